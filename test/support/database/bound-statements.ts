/**
 * Whether a statement is bound to a workspace: each table of tenants that it names is held to rows of that workspace, by its
 * `customer_id`, by a key that the same statement compares with a row so held, or by a key that an earlier statement of the
 * same request read from such a row. It is decided on the parsed text, with the values that were sent.
 */
import { parseSync } from 'libpg-query';
import { last, present } from '../../../src/platform/core/present.ts';

/** What the catalogue says of the tables. */
export interface Schema {
  /** Columns of each table. */
  columns: ReadonlyMap<string, ReadonlySet<string>>;
  /** `table.column` that alone tell one row from all others, or that refer to such a one. */
  keys: ReadonlySet<string>;
  /** Tables whose rows belong to workspaces: with a `customer_id`, or by a reference to one that has it. */
  owned: ReadonlySet<string>;
}

/** Ids of ours without a foreign key: what they refer to may be gone, or comes later. */
const IDS_WITHOUT_REFERENCE = [
  ...['runs.parent_run_id', 'runs.attempt_id', 'runs.budget_ids', 'attempts.task_id', 'attempts.child_run_id'],
  ...['output_deliveries.project_id', 'output_deliveries.artifact_id', 'output_deliveries.wait_id'],
];

/** For queries of the catalogue, in `public`. */
export const SCHEMA_QUERIES = {
  columns: `select table_name as "table", column_name as "column" from information_schema.columns where table_schema = 'public'`,
  unique: `select c.relname as "table", a.attname as "column" from pg_index i
    join pg_class c on c.oid = i.indrelid join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
    where i.indisunique and i.indnkeyatts = 1 and i.indexprs is null and c.relnamespace = 'public'::regnamespace`,
  references: `select c.relname as "table", a.attname as "column", f.relname as "to" from pg_constraint k
    join pg_class c on c.oid = k.conrelid join pg_class f on f.oid = k.confrelid
    join pg_attribute a on a.attrelid = c.oid and a.attnum = k.conkey[1]
    where k.contype = 'f' and array_length(k.conkey, 1) = 1 and c.relnamespace = 'public'::regnamespace`,
} as const;

interface ColumnRow {
  table: string;
  column: string;
  to?: string;
}

export function schemaOf(found: Record<keyof typeof SCHEMA_QUERIES, readonly ColumnRow[]>): Schema {
  const columns = new Map<string, Set<string>>();
  for (const { table, column } of found.columns) columns.set(table, (columns.get(table) ?? new Set()).add(column));
  const owned = new Set([...columns].filter(([, names]) => names.has('customer_id')).map(([table]) => table));
  for (let before = -1; before !== owned.size;) {
    before = owned.size;
    for (const { table, to } of found.references) if (owned.has(present(to))) owned.add(table);
  }
  const declared = [...found.unique, ...found.references].map(({ table, column }) => `${table}.${column}`);
  const keys = new Set([...declared, ...IDS_WITHOUT_REFERENCE]);
  return { columns, keys, owned };
}

/** What may be taken for granted of a value: it is the workspace's own, or the key of a row that is. */
export interface Known {
  isOwner(value: unknown): boolean;
  isKeyOfOwned(value: unknown): boolean;
}

// The tree is Postgres' own, as JSON: a node is an object with one key, which is its kind.
/* eslint-disable @typescript-eslint/no-explicit-any */
type Node = any;

/** One name in a FROM: a table, or the rows of a query. */
interface Relation {
  name: string;
  /** Undefined for what is no table. */
  table?: string;
  /** Output columns of a query; undefined where it is not known which. */
  outputs?: ReadonlySet<string> | undefined;
  isBound: boolean;
}

interface Scope {
  relations: Relation[];
  parent?: Scope | undefined;
  withs: ReadonlyMap<string, Relation>;
}

/** A condition that holds for every row, and the relations that it can hold to something. */
interface Condition {
  node: Node;
  binds(relation: Relation): boolean;
}

/** @returns the tables that are held to no workspace, in the order in which they stand; empty when all are bound */
export function unboundTables(text: string, values: readonly unknown[], schema: Schema, known: Known): string[] {
  const unbound: string[] = [];
  const { stmts } = parseSync(text) as { stmts: { stmt: Node }[] };

  const valueOf = (node: Node): unknown => {
    if (node?.TypeCast) return valueOf(node.TypeCast.arg);
    if (node?.ParamRef) return values[node.ParamRef.number - 1];
    return undefined;
  };
  const all = (value: unknown, check: (one: unknown) => boolean): boolean =>
    value !== undefined && value !== null && (Array.isArray(value) ? value : [value]).every(check);

  /** Where a column comes from; undefined for what is none. */
  const columnOf = (node: Node, scope: Scope): { relation: Relation; column: string } | undefined => {
    if (node?.TypeCast) return columnOf(node.TypeCast.arg, scope);
    const fields: string[] | undefined = node?.ColumnRef?.fields.map((field: Node) => field.String?.sval);
    if (!fields || fields.some((field) => field === undefined)) return undefined;
    const column = last(fields);
    const has = (relation: Relation): boolean =>
      relation.table
        ? present(schema.columns.get(relation.table)).has(column)
        : (relation.outputs?.has(column) ?? true);
    for (let at: Scope | undefined = scope; at; at = at.parent) {
      const named = fields.length > 1 ? at.relations.filter(({ name }) => name === fields.at(-2)) : at.relations;
      const relation = named.find(has);
      if (relation) return { relation, column };
    }
    return undefined;
  };
  const isKey = ({ relation, column }: { relation: Relation; column: string }): boolean =>
    relation.table === undefined || column === 'customer_id' || schema.keys.has(`${relation.table}.${column}`);

  /** Whether `node`, which is compared with a column of the relation, is something of the workspace. */
  const isOwned = (node: Node, column: string, scope: Scope): boolean => {
    const value = valueOf(node);
    if (value !== undefined) {
      return column === 'customer_id'
        ? all(value, known.isOwner)
        : all(value, (one) => known.isKeyOfOwned(one) || known.isOwner(one));
    }
    if (node?.SubLink) return boundQuery(node.SubLink.subselect, scope);
    if (node?.TypeCast) return isOwned(node.TypeCast.arg, column, scope);
    // `'project:' || p.id`: ids that are made of others.
    const joined = node?.A_Expr?.name[0].String.sval === '||' && node.A_Expr;
    if (joined && joined.lexpr.A_Const) return isOwned(joined.rexpr, column, scope);
    if (node?.CoalesceExpr) return node.CoalesceExpr.args.every((arg: Node) => isOwned(arg, column, scope));
    const other = columnOf(node, scope);
    return other !== undefined && other.relation.isBound && isKey(other);
  };

  /** Whether the condition holds `relation` to the workspace. */
  const holds = (node: Node, relation: Relation, scope: Scope): boolean => {
    const bool = node?.BoolExpr;
    if (bool?.boolop === 'AND_EXPR') return bool.args.some((arg: Node) => holds(arg, relation, scope));
    if (bool?.boolop === 'OR_EXPR') {
      return bool.args.every((arg: Node) => holds(arg, relation, scope) || isShared(arg, relation, scope));
    }
    const isOf = (side: Node): string | undefined => {
      const at = columnOf(side, scope);
      return at && at.relation === relation && isKey(at) ? at.column : undefined;
    };
    const expression = node?.A_Expr;
    if (expression && ['AEXPR_OP', 'AEXPR_OP_ANY', 'AEXPR_IN'].includes(expression.kind)) {
      if (expression.name[0].String.sval !== '=') return false;
      const { lexpr, rexpr } = expression;
      const sides = [lexpr.RowExpr ? lexpr.RowExpr.args : [lexpr], rexpr.RowExpr ? rexpr.RowExpr.args : [rexpr]];
      return sides[0].some((left: Node, i: number) => {
        const right = sides[1][i];
        const [ofLeft, ofRight] = [isOf(left), isOf(right)];
        const list = right?.List ? right.List.items : [right];
        return (
          (ofLeft !== undefined && list.every((one: Node) => isOwned(one, ofLeft, scope))) ||
          (ofRight !== undefined && isOwned(left, ofRight, scope))
        );
      });
    }
    const link = node?.SubLink;
    if (link?.subLinkType === 'ANY_SUBLINK') {
      const tests = link.testexpr.RowExpr ? link.testexpr.RowExpr.args : [link.testexpr];
      return tests.some((test: Node) => isOf(test) !== undefined) && boundQuery(link.subselect, scope);
    }
    if (link?.subLinkType === 'EXISTS_SUBLINK' && link.subselect.SelectStmt) {
      // It holds what it is compared with inside, once all that is inside is bound without it.
      const inner = scopeOf(link.subselect.SelectStmt, scope.withs, scope);
      bind(inner);
      return (
        inner.scope.relations.every((each) => each.isBound) &&
        inner.conditions.some((condition) => holds(condition.node, relation, inner.scope))
      );
    }
    return false;
  };

  /** Rows that are nobody's: what ships with the product. */
  const isShared = (node: Node, relation: Relation, scope: Scope): boolean => {
    const test = node?.NullTest;
    if (test?.nulltesttype !== 'IS_NULL') return false;
    const at = columnOf(test.arg, scope);
    return at?.relation === relation && at.column === 'customer_id';
  };

  interface Query {
    scope: Scope;
    conditions: Condition[];
    /** Queries in FROM that see their neighbours. */
    laterals: Node[];
  }

  const conjuncts = (node: Node): Node[] =>
    node === undefined ? [] : node.BoolExpr?.boolop === 'AND_EXPR' ? node.BoolExpr.args.flatMap(conjuncts) : [node];

  function addFrom(node: Node, query: Query): Relation[] {
    const { scope } = query;
    const add = (relation: Relation): Relation[] => {
      scope.relations.push(relation);
      return [relation];
    };
    if (node.RangeVar) return add(relationOf(node.RangeVar, scope));
    if (node.JoinExpr) {
      const { larg, rarg, quals, jointype, usingClause } = node.JoinExpr;
      const [left, right] = [addFrom(larg, query), addFrom(rarg, query)];
      const bindable =
        { JOIN_INNER: [...left, ...right], JOIN_LEFT: right, JOIN_RIGHT: left }[jointype as string] ?? [];
      const binds = (relation: Relation) => bindable.includes(relation);
      query.conditions.push(...conjuncts(quals).map((each) => ({ node: each, binds })));
      for (const { String: name } of usingClause ?? []) {
        for (const [own, other] of [
          [left, right],
          [right, left],
        ] as const) {
          for (const a of own)
            for (const b of other) {
              const ref = (relation: Relation) => ({
                ColumnRef: { fields: [{ String: { sval: relation.name } }, { String: name }] },
              });
              query.conditions.push({
                node: { A_Expr: { kind: 'AEXPR_OP', name: [{ String: { sval: '=' } }], lexpr: ref(a), rexpr: ref(b) } },
                binds,
              });
            }
        }
      }
      return [...left, ...right];
    }
    const name: string = (node.RangeSubselect ?? node.RangeFunction)?.alias?.aliasname ?? '';
    if (node.RangeSubselect) {
      const { lateral, subquery } = node.RangeSubselect;
      if (lateral) {
        query.laterals.push(subquery);
        return add({ name, isBound: true });
      }
      // It does not see its neighbours, but what the query around it is inside of.
      const around: Scope = { relations: [], withs: scope.withs, parent: scope.parent };
      return add({ name, isBound: boundQuery(subquery, around), outputs: outputsOf(subquery) });
    }
    const lists = listsOf(node.RangeFunction);
    if (lists) {
      const owned = lists.filter(([, list]) => all(valueOf(list), known.isOwner)).map(([column]) => column);
      return add({ name, isBound: owned.length > 0, outputs: new Set(owned) });
    }
    // A function's rows are made of what it is given.
    return add({ name, isBound: false });
  }

  /** Of `unnest($1, $2) as name(a, b)`: its columns, each with the list that it is made of. */
  function listsOf(from: Node): [string, Node][] | undefined {
    const call = from?.functions?.length === 1 && from.functions[0].List.items[0].FuncCall;
    const columns: Node[] = from?.alias?.colnames ?? [];
    if (!call || call.funcname.at(-1).String.sval !== 'unnest' || columns.length !== call.args.length) return undefined;
    return columns.map(({ String: { sval } }, i) => [sval, call.args[i]]);
  }

  function relationOf({ relname, alias }: Node, { withs }: Scope): Relation {
    const name: string = alias?.aliasname ?? relname;
    const common = withs.get(relname);
    if (common) return { ...common, name };
    if (!schema.columns.has(relname)) return { name, isBound: true };
    return { name, table: relname, isBound: !schema.owned.has(relname) };
  }

  /** Names of what a query gives; undefined where they cannot be told from its text. */
  const outputsOf = (query: Node): ReadonlySet<string> | undefined => {
    const statement = Object.values(query)[0] as Node;
    const targets: Node[] | undefined =
      'SelectStmt' in query ? (statement.larg ?? statement).targetList : statement.returningClause?.exprs;
    const names = targets?.map(({ ResTarget: { name, val } }) => name ?? val.ColumnRef?.fields.at(-1)?.String?.sval);
    return names?.every((name) => name !== undefined) ? new Set(names) : undefined;
  };

  function scopeOf(select: Node, withs: Scope['withs'], parent?: Scope): Query {
    const query: Query = { scope: { relations: [], parent, withs }, conditions: [], laterals: [] };
    for (const from of select.fromClause ?? []) addFrom(from, query);
    query.conditions.push(...conjuncts(select.whereClause).map((node) => ({ node, binds: () => true })));
    return query;
  }

  /** Binds what its conditions bind, until nothing more is. */
  function bind({ scope, conditions }: Query): void {
    for (let isChanged = true; isChanged;) {
      isChanged = false;
      for (const relation of scope.relations) {
        if (relation.isBound) continue;
        relation.isBound = conditions.some(
          (condition) => condition.binds(relation) && holds(condition.node, relation, scope),
        );
        isChanged ||= relation.isBound;
      }
    }
  }

  /** Reports what is not bound in a query and in all queries inside it. @returns whether all of it is */
  function boundQuery(node: Node, outer: Scope): boolean {
    const [kind, statement] = Object.entries(node)[0] as [string, Node];
    const before = unbound.length;
    const withs = new Map(outer.withs);
    for (const { CommonTableExpr: common } of statement.withClause?.ctes ?? []) {
      const relation: Relation = { name: common.ctename, isBound: true, outputs: outputsOf(common.ctequery) };
      if (statement.withClause.recursive) withs.set(common.ctename, relation);
      relation.isBound = boundQuery(common.ctequery, { ...outer, withs });
      withs.set(common.ctename, relation);
    }
    if (statement.larg) {
      for (const side of [statement.larg, statement.rarg]) boundQuery({ SelectStmt: side }, { ...outer, withs });
      return unbound.length === before;
    }
    const query = scopeOf(
      kind === 'DeleteStmt' ? { ...statement, fromClause: statement.usingClause } : statement,
      withs,
      outer,
    );
    if (kind === 'UpdateStmt' || kind === 'DeleteStmt')
      query.scope.relations.unshift(relationOf({ ...statement.relation }, { relations: [], withs: new Map() }));
    bind(query);
    for (const relation of query.scope.relations) {
      // Rows of a query have been reported where it stands; those of a function are no table's.
      if (!relation.isBound && relation.table) unbound.push(relation.table);
    }
    for (const lateral of query.laterals) boundQuery(lateral, query.scope);
    const { withClause: _, fromClause: _from, ...rest } = statement;
    if (kind === 'InsertStmt') {
      const source = statement.selectStmt;
      if (source && !isInsertOwned(statement, withs, outer)) unbound.push(statement.relation.relname);
      if (source) boundQuery(source, { ...outer, withs });
      inside(statement.onConflictClause?.whereClause, query.scope);
      return unbound.length === before;
    }
    inside(rest, query.scope);
    for (const from of statement.fromClause ?? []) inside(from.JoinExpr?.quals, query.scope);
    return unbound.length === before;
  }

  /** Queries within expressions. */
  function inside(node: Node, scope: Scope): void {
    if (node === null || typeof node !== 'object') return;
    if (node.SubLink) {
      inside(node.SubLink.testexpr, scope);
      boundQuery(node.SubLink.subselect, scope);
      return;
    }
    for (const child of Object.values(node)) inside(child, scope);
  }

  /** Whether each new row says, by its `customer_id` or by a key that it refers to, that it is the workspace's. */
  function isInsertOwned(
    insert: Node,
    withs: Scope['withs'],
    outer: Scope,
    select: Node = insert.selectStmt.SelectStmt,
  ): boolean {
    const { relation, cols } = insert;
    const table: string = relation.relname;
    if (!schema.owned.has(table)) return true;
    if (select.larg) return [select.larg, select.rarg].every((side) => isInsertOwned(insert, withs, outer, side));
    const query = scopeOf(select, withs, outer);
    bind(query);
    const names: string[] = (cols ?? []).map(({ ResTarget }: Node) => ResTarget.name);
    const rows: Node[][] = select.valuesLists
      ? select.valuesLists.map(({ List }: Node) => List.items)
      : [(select.targetList ?? []).map(({ ResTarget }: Node) => ResTarget.val)];
    return rows.every((row) =>
      names.some((name, i) => {
        if (name !== 'customer_id' && !schema.keys.has(`${table}.${name}`)) return false;
        return isOwned(row[i], name, query.scope);
      }),
    );
  }

  for (const { stmt } of stmts) boundQuery(stmt, { relations: [], withs: new Map() });
  return [...new Set(unbound)];
}
