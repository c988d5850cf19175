import sqlalchemy as sa
from sqlalchemy.orm import DeclarativeBase, Session, mapped_column, Mapped
e = sa.create_engine("postgresql+psycopg://")
i = sa.inspect(e)
print(i.get_schema_names(), sorted(i.get_table_names()), i.get_view_names(), i.has_table("events"), i.has_table("nothing"))
print([(c["name"], str(c["type"]), c["nullable"]) for c in i.get_columns("every")])
print(i.get_pk_constraint("events")["constrained_columns"], i.get_foreign_keys("events"), i.get_indexes("events"), i.get_table_comment("events"))
m = sa.MetaData()
m.reflect(e)
events = m.tables["events"]
print([c.name for c in events.primary_key])
with e.connect() as c: # a block that reads, and a rollback on return to the pool
    print(c.execute(sa.select(events.c.kind, events.c.value).where(events.c.device == "d1").order_by(events.c.ts.desc())).all())
    print(c.execute(sa.select(sa.func.count()).select_from(events).where(events.c.device.in_(["d1", "d2"]))).scalar())
with e.begin() as c:
    try:
        c.execute(sa.insert(events).values(device="sa", ts=sa.func.now()))
    except sa.exc.DBAPIError as x:
        print(x.orig.sqlstate, x.orig.diag.message_hint)
auto = e.execution_options(isolation_level="AUTOCOMMIT")
with auto.connect() as c:
    print(c.execute(sa.insert(events), [{"device": "sa", "ts": f"2024-05-0{d} 00:00:00+00", "value": d} for d in (1, 2, 3)]).rowcount)
    print(c.execute(sa.insert(events).values(device="sa", ts="2024-06-01 00:00:00+00").returning(events.c.device, events.c.value)).all())

class Base(DeclarativeBase): pass
class Event(Base):
    __tablename__ = "events"
    device: Mapped[str] = mapped_column(primary_key=True)
    ts: Mapped[object] = mapped_column(sa.DateTime(timezone=True), primary_key=True)
    kind: Mapped[str]
    value: Mapped[float]

with Session(auto) as s:
    one = s.scalars(sa.select(Event).where(Event.device == "sa").order_by(Event.ts).limit(1)).one()
    one.kind = "changed"
    s.commit()
    print(s.scalars(sa.select(Event.kind).where(Event.device == "sa", Event.kind.is_not(None))).all())
    print(s.execute(sa.delete(Event).where(Event.device == "sa")).rowcount)
