#!/bin/sh
# Creates Temporal's two databases, or brings them to the schema of this version. Safe to repeat: an upgrade of the
# image runs it again. The SQL_* variables name the server.
set -eu

for database in temporal visibility; do
  name=temporal
  [ "$database" = visibility ] && name=temporal_visibility
  temporal-sql-tool --db "$name" create
  temporal-sql-tool --db "$name" setup-schema -v 0.0
  temporal-sql-tool --db "$name" update-schema -d "/etc/temporal/schema/postgresql/v12/$database/versioned"
done
