"""Load skills of OVOS in one process, as ovos-core does: skill_host.py SKILL_ID ...

Each launcher loads the code of all that is installed, which takes a minute of processor time in the pre-release line.
"""

from __future__ import annotations

import sys
import threading

from ovos_bus_client import MessageBusClient
from ovos_plugin_manager.skills import find_skill_plugins
from ovos_workshop.skill_launcher import PluginSkillLoader

bus = MessageBusClient()
bus.run_in_thread()
bus.connected_event.wait()
plugins = find_skill_plugins()
loaders = [PluginSkillLoader(bus, skill_id) for skill_id in sys.argv[1:]]
for loader in loaders:
    loader.load(plugins[loader.skill_id])
threading.Event().wait()
