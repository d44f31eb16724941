#!/usr/bin/env bash
# A skill in a shell script, by way of `hark bus pipe`: coffee.sh [URL]
set -eu
skill=coffee.shell
coproc BUS {
  exec hark bus pipe --bus "${1:-ws://127.0.0.1:8181/core}" \
    --topic connected --topic ovos.intents.ready --topic ovos.converse.ping --topic "$skill:pour"
}

send() { # TOPIC DATA [CONTEXT]
  printf '{"type": "%s", "data": %s, "context": %s}\n' "$1" "$2" "${3:-"{}"}" >&"${BUS[1]}"
}

while read -r message <&"${BUS[0]}"; do
  context=$(sed -n 's/.*,"context"://; s/}$//p' <<<"$message")
  case $message in
    '{"type":"connected"'* | '{"type":"ovos.intents.ready"'*)
      send ovos.skill.loaded "{\"skill_id\": \"$skill\", \"completes\": true}"
      names="\"skill_id\": \"$skill\", \"intent_name\": \"pour\", \"lang\": \"en-US\""
      send ovos.intent.register.template "{$names, \"samples\": [\"pour [me] [a] coffee\"]}" ;;
    '{"type":"ovos.converse.ping"'*)
      send ovos.converse.pong "{\"skill_id\": \"$skill\", \"can_handle\": false}" "$context" ;;
    "{\"type\":\"$skill:pour\""*)
      send ovos.utterance.speak "{\"utterance\": \"Poured at $(date +%H:%M).\", \"lang\": \"en-US\"}" "$context"
      send hark.handler.done "{\"topic\": \"$skill:pour\"}" "$context" ;;
  esac
done
