#!/bin/sh
# Creates the namespace if it is not there, and ends when the server knows it: later than when its port is open.
set -eu

attempts=60
until temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1; do
  attempts=$((attempts - 1))
  [ "$attempts" -gt 0 ] || { echo "namespace $TEMPORAL_NAMESPACE cannot be created at $TEMPORAL_ADDRESS" >&2; exit 1; }
  temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention 7d || true
  sleep 2
done
