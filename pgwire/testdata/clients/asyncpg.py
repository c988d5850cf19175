import asyncio, asyncpg, datetime, os
async def main():
    c = await asyncpg.connect(ssl=False)
    print(await c.fetchval("SELECT value FROM events WHERE device = $1 AND ts >= $2 LIMIT $3", "d1", datetime.datetime(2024, 5, 1, 11, tzinfo=datetime.timezone.utc), 1))
    print(await c.fetchval("SELECT COUNT(*) FROM events WHERE device = ANY ($1)", ["d1", "d3"]))
    async with c.transaction(readonly=True):
        print(len([r async for r in c.cursor("SELECT n FROM generate_series(1, 120) AS s (n)")]))
    try:
        await c.fetch("SELECT * FROM events")
    except asyncpg.PostgresError as e:
        print(e.sqlstate)
    try:
        await c.fetchval("SELECT COUNT(*) FROM generate_series(1, 1000000000000) AS s (n)", timeout=0.2)
    except TimeoutError:
        print("timeout")
    print(await c.fetchval("SELECT 1"))
    await c.close()
asyncio.run(main())
