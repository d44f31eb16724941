"""An assistant in several processes: what starts and watches them, and what each of them is."""
