#!/bin/sh
# $1 is "remove" (deb) or 0 (rpm) when the package goes, and otherwise an upgrade.
set -e
case $1 in remove | 0)
  if [ -d /run/systemd/system ]; then
    systemctl disable --now alike-worker.service
  fi
esac
