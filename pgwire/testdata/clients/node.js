const { Client, Pool } = require('pg')
const Cursor = require('pg-cursor')
const run = async () => {
  const c = new Client()
  await c.connect()
  const ask = async (...q) => {
    try {
      const r = await c.query(...q)
      console.log(JSON.stringify(Array.isArray(r) ? r.map(x => x.rows) : [r.command, r.rowCount, r.rows]))
    } catch (e) {
      console.log(e.code, e.position, e.hint)
    }
  }
  await ask('SELECT * FROM every WHERE id = $1', [1])
  await ask({ text: 'SELECT b, s, x FROM every WHERE id = $1', values: [1], binary: true })
  for (let i = 0; i < 2; i++) await ask({ name: 'named', text: 'SELECT value AS Reading FROM events WHERE device = $1 AND ts > $2', values: ['d1', new Date('2024-05-01T10:30:00Z')] })
  await ask('SELECT $1::int[] AS a, $2::json AS j, $3::bool AS b', [[1, 2], { a: 1 }, true])
  await ask('SELECT 1::int AS a; SELECT 2::int AS b')
  await ask('')
  await ask('SELECT nope FROM events')
  await ask('SELECT * FROM events')
  await ask('LISTEN x')
  await ask('INSERT INTO events (device, ts, value) VALUES ($1, $2, $3) RETURNING device, value', ['node', new Date(0), 1.5])
  await ask('DELETE FROM events WHERE device = $1', ['node'])
  const cursor = c.query(new Cursor('SELECT n::int FROM generate_series(1, 10) AS s (n)'))
  console.log((await cursor.read(3)).length, (await cursor.read(100)).length)
  await cursor.close()
  await c.end()
  const pool = new Pool({ statement_timeout: 200 })
  console.log((await Promise.all([...Array(20).keys()].map(i => pool.query('SELECT $1::int AS i', [i])))).reduce((sum, r) => sum + r.rows[0].i, 0))
  await pool.query('SELECT COUNT(*) FROM generate_series(1, 1000000000000) AS s (n)').catch(e => console.log(e.code))
  await pool.end()
}
run().catch(e => { console.log(e); process.exit(1) })
