/*
 * What PostgreSQL itself charges before an extension has done anything; bench/run compiles it.
 *
 * constant_rows(entity text, n int): n rows with the columns of cft_context, always the same, written by hand into the tuplestore:
 * the floor under a set-returning function in FROM.
 * nothing_trigger(): an AFTER ROW trigger that does nothing: the floor under every trigger that notes rows.
 */
#include "postgres.h"

#include "commands/trigger.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(constant_rows);

Datum
constant_rows(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	int			n = PG_GETARG_INT32(1);
	Datum		values[6];
	bool		nulls[6] = {false};

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	values[0] = PG_GETARG_DATUM(0);
	values[1] = CStringGetTextDatum("tree 17");
	values[2] = CStringGetTextDatum("ancestor");
	values[4] = CStringGetTextDatum("baidu stou fi");
	values[5] = CStringGetTextDatum("gakei mo tra");
	for (int i = 0; i < n; i++)
	{
		values[3] = Int32GetDatum(1 + i % 3);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(nothing_trigger);

Datum
nothing_trigger(PG_FUNCTION_ARGS)
{
	return PointerGetDatum(((TriggerData *) fcinfo->context)->tg_trigtuple);
}
