"""An assistant in several processes, started and looked after by one."""
