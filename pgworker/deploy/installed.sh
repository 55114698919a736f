#!/bin/sh
# Systemd learns of the unit. Nothing starts before a database is named.
set -e
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl try-restart alike-worker.service
fi
