/*
 * The delivery protocol, for the model checker Spin: one lead, since leads do not meet, and two receivers on one inbox. The
 * app is the target of both, the file of the first, since a file belongs to its host. delivery.test.ts runs and breaks it.
 *
 *   delivery     src/receiver/create-receiver.ts: received, stored, dispatched, then answered; and the sender around it
 *   target       src/receiver/deliver-to-targets.ts (a try), outbox.ts (what is due), targets/append.ts (opened, written)
 *   work         the rows of src/inbox/sqlite/target-tables.ts, or `outstanding` of postgres; `LeaseState` answers to a lease of one
 *   transaction  of either store; the answer to a COMMIT may be lost, as src/inbox/postgres/write/transaction-queue.ts says it
 *   init         kills and restarts, leases that expire, `inbox erase`, rotation of the file
 *
 * One atomic step is one transaction, or one turn of the event loop. At most FAULTS things go wrong, of any kinds and at any
 * time. Time has no length: what is due later may be due now. Left out: best-effort targets, pruning, `inbox retry`,
 * giving up untried what waited for a target that was away for days, and that a receiver which could not settle what a target
 * has had hands it over no more.
 */
#define app 0
#define file 1
#define nobody 2 /* has the leases of a receiver that was killed */
mtype:Mutant = { NONE, ANSWER_EARLY, KNOWN_IS_DUPLICATE, CHECK_OUTSIDE, LOST_COMMIT_IS_TAKEN, DUE_AT_RELEASE_ONLY, NO_OUTBOX,
  NO_EXPIRY, SETTLE_EARLY, RELEASE_BEFORE_SETTLE, RELEASE_WITHOUT_OWNER, ACCEPT_ON_FIRST,
  LEASE_WITHOUT_LOOK, DEAD_WITHOUT_TRY, READ_BEFORE_LEASE, ERASE_MISSED, APPEND_WITHOUT_LOOK, APPEND_TO_OPEN_FILE }
mtype:Lead = { unknown, known, erased }; mtype:Row = { not_outstanding, free, leased, settled }
mtype:Step = { unsent, received, stored, dispatched, acknowledged, given_up }; mtype:Wait = { nothing, wanted, own, shared }
mtype:Try = { idle, in_flight, opened, written, taken, released, failed }; mtype:Handle = { at_path, renamed, removed }
mtype:Verdict = { pending, accepted, duplicate, cannot_store }; mtype:Commit = { committed, unanswered, rolled_back }
typedef Work { mtype:Row state = not_outstanding; byte owner = nobody; bool isDue; bool isDead; bool isTried }
typedef Here { mtype:Try try = idle; bool isLeased; bool isLate }
typedef Receiver { bool isUp = true; Here at[2] }
typedef Delivery {
  mtype:Step state = unsent; mtype:Verdict kind = pending; mtype:Wait waits[2] = nothing; bool isRefused, isShared }
mtype:Lead lead = unknown; Work work[2]; bool isAccepted;
Receiver receivers[2]; Delivery deliveries[SENDERS]; byte receiverOf[SENDERS];
mtype:Handle handle = at_path; bool isLineAtPath;
byte faults = FAULTS;    /* that may still come */
bool had[2];             /* which targets got the lead */
byte accepts;            /* how often somebody heard that it was accepted */

#define mutant(m) (MUTANT == m)
#define fault faults > 0 -> faults--
#define d deliveries[i]
#define mine receiverOf[i]
#define other deliveries[n]
#define row work[t]
#define here(r, t) receivers[r].at[t]
#define me here(r, t)
#define isWanted(r, t) (t == app || r == 0)
#define isOutstanding(t) (work[t].state == free || work[t].state == leased)
#define isUndone(r) (isOutstanding(app) || (isWanted(r, file) && isOutstanding(file)))
#define isSettledFor(r) (work[app].state == settled && (!isWanted(r, file) || work[file].state == settled))
#define isGrantable(r, t) (isWanted(r, t) && work[t].state != settled && (work[t].state != leased || work[t].owner == r))
#define isFree(t) (work[t].state == free && work[t].isDue && !work[t].isDead)
#define isDispatching(r) (here(r, app).try != idle || here(r, file).try != idle)
#define isAnswered(n) (deliveries[n].state == acknowledged || deliveries[n].state == given_up)
#define isAt(n, r) (receiverOf[n] == r && other.state != unsent && !isAnswered(n))
#define isGranted(n, r, t) (receiverOf[n] == r && deliveries[n].waits[t] == wanted)
#define isActive(r, t) (here(r, t).try != idle || here(r, t).isLeased || isGranted(0, r, t) || isGranted(SENDERS - 1, r, t))
#define isAbandoned(t) (work[t].owner == nobody || !isActive(work[t].owner, t))

inline transaction() { if :: commit = committed :: fault; commit = rolled_back :: fault; commit = unanswered fi }
inline conclude(r) { /* verdictOnceDone; of a lead that was erased: duplicate */
  if :: lead == erased -> verdict = duplicate
     :: lead != erased && isUndone(r) && !mutant(ACCEPT_ON_FIRST) -> verdict = pending
     :: else -> verdict = (isAccepted -> duplicate : accepted); isAccepted = true fi }
inline doubt() { if :: commit != committed && !mutant(LOST_COMMIT_IS_TAKEN) -> verdict = cannot_store :: else fi }
inline heard() { doubt(); if :: commit == committed && verdict == accepted -> accepts++; assert(accepts <= 1) :: else fi }
inline lease(r, t) { row.state = leased; row.owner = r; me.isLate = false }
inline look(t) { hasLooked = true; seen[t] = isGrantable(mine, t) } /* only for mutant(CHECK_OUTSIDE) */
inline grant(r, t) {
  if :: (mutant(CHECK_OUTSIDE) -> !seen[t] : !isGrantable(r, t))
     :: else -> lease(r, t); row.isDue = !mutant(DUE_AT_RELEASE_ONLY);
        d.waits[t] = (commit == committed -> wanted : nothing) fi }
inline take(r) {
  if :: lead == erased || isSettledFor(r) -> conclude(r)
     :: mutant(KNOWN_IS_DUPLICATE) && lead == known -> verdict = duplicate
     :: else -> lead = known; verdict = pending; grant(r, app); grant(r, file) fi }
inline begin(r, t) { /* never from two receivers at the same time, unless a lease ended under a try */
  assert(me.isLate || here(1 - r, t).try == idle || here(1 - r, t).isLate);
  me.try = in_flight; row.state = (mutant(SETTLE_EARLY) -> settled : row.state) }
inline dispatch(t) {
  if :: d.waits[t] == wanted && here(mine, t).try == idle -> begin(mine, t); d.waits[t] = own
     :: d.waits[t] == wanted && here(mine, t).try != idle -> d.waits[t] = shared
     :: STORED -> skip /* followLater: a new lead waits in the inbox for a target that is away */
     :: else fi;
  d.waits[t] = (STORED -> nothing : d.waits[t]) }
inline comeAgain(n) { if :: other.state = unsent :: other.state = given_up fi } /* a sender that got no 200 does, or not */
inline leave(n) {
  other.kind = pending; other.isRefused = false; other.isShared = false; receiverOf[n] = 0;
  other.waits[app] = nothing; other.waits[file] = nothing }
inline answer(isTaken) {
  assert(!(isTaken) || STORED || lead == erased || (isAccepted && had[app] && (!isWanted(mine, file) || had[file])));
  if :: isTaken -> d.state = acknowledged :: !(isTaken) -> comeAgain(i) fi;
  leave(i); commit = committed; verdict = pending }

proctype delivery(byte i) {
  mtype:Commit commit = committed; mtype:Verdict verdict = pending; bool hasLooked, seen[2];
  do
  :: atomic { d.state == unsent && (receivers[0].isUp || receivers[1].isUp) -> d.state = received;
       if :: receivers[0].isUp -> mine = 0 :: receivers[1].isUp -> mine = 1 fi }
  :: atomic { mutant(ANSWER_EARLY) && d.state == received -> d.state = acknowledged }
  :: atomic { mutant(CHECK_OUTSIDE) && d.state == received && !hasLooked -> look(app); look(file) }
  :: atomic { d.state == received && (hasLooked || !mutant(CHECK_OUTSIDE)) ->
       transaction(); if :: commit != rolled_back -> take(mine) :: else fi; heard();
       if :: verdict == pending -> d.state = stored; commit = committed :: else -> answer(verdict != cannot_store) fi }
  :: atomic { d.state == stored -> dispatch(app); dispatch(file); d.state = dispatched }
  :: atomic { d.state == dispatched && d.waits[app] == nothing && d.waits[file] == nothing ->
       if :: d.kind != pending || !d.isShared || d.isRefused
          :: else -> /* the verdict went to whose try it was, so that it cannot be accepted here */
             transaction(); if :: commit != rolled_back -> conclude(mine) :: else fi; doubt();
             assert(verdict != accepted); d.kind = verdict fi;
       answer(STORED || d.kind == accepted || d.kind == duplicate) }
  od }
inline tell(r, t) { /* the deliveries that wait for the try */
  for (n : 0 .. SENDERS - 1) {
    if :: !isAt(n, r) || (other.waits[t] != own && other.waits[t] != shared)
       :: else ->
          other.isRefused = other.isRefused || me.try == failed; other.isShared = other.isShared || other.waits[t] == shared;
          if :: me.try != failed && verdict == cannot_store -> other.kind = cannot_store
             :: me.try != failed && other.waits[t] == own && other.kind == pending -> other.kind = verdict
             :: else fi;
          other.waits[t] = nothing fi }
  n = 0; me.try = idle; commit = committed; verdict = pending }
proctype target(byte r; byte t) {
  mtype:Commit commit = committed; mtype:Verdict verdict = pending; byte n; bool hasLooked;
#define isReady (receivers[r].isUp && !me.isLeased && !isDispatching(r) && !mutant(NO_OUTBOX))
  do
  :: atomic { mutant(LEASE_WITHOUT_LOOK) && isReady && isFree(t) && !hasLooked -> hasLooked = true }
  :: atomic { isReady && (mutant(LEASE_WITHOUT_LOOK) -> hasLooked : isFree(t)) -> /* the outbox */
       hasLooked = false; lease(r, t); row.isDead = mutant(DEAD_WITHOUT_TRY);
       if :: me.isLeased = true :: fault /* the answer is lost: nobody knows of the lease */ fi }
  :: atomic { me.isLeased -> me.isLeased = false;
       if :: (lead == erased && !mutant(READ_BEFORE_LEASE)) || me.try != idle
          :: else -> assert(lead == known); begin(r, t) fi }
  :: atomic { me.try == in_flight && t == app -> had[t] = true; me.try = taken }
  :: atomic { me.try == in_flight && t == file ->
       me.try = opened; handle = (mutant(APPEND_TO_OPEN_FILE) -> handle : at_path) }
  :: atomic { me.try == (t == app -> in_flight : opened) && fault; me.try = failed }
  :: atomic { me.try == opened -> me.try = written;
       had[t] = had[t] || handle != removed; isLineAtPath = isLineAtPath || handle == at_path }
  :: atomic { me.try == written -> me.try = (handle == removed && !mutant(APPEND_WITHOUT_LOOK) -> in_flight : taken) }
  :: atomic { mutant(RELEASE_BEFORE_SETTLE) && me.try == taken -> row.state = free; me.try = released }
  :: atomic { me.try == (mutant(RELEASE_BEFORE_SETTLE) -> released : taken) -> transaction();
       if :: commit == rolled_back
          :: commit != rolled_back && lead == erased && !mutant(ERASE_MISSED) -> verdict = duplicate
          :: else -> row.state = settled; row.isDead = false; conclude(r) fi;
       heard(); tell(r, t) }
  :: atomic { me.try == failed -> transaction();
       if :: commit == rolled_back || !isOutstanding(t) || (row.owner != r && !mutant(RELEASE_WITHOUT_OWNER))
          :: else -> row.state = free; row.isTried = true; me.isLate = true; if :: row.isDue = true :: row.isDead = true fi fi;
       tell(r, t) }
  od }
inline kill(r) {
  for (n : 0 .. SENDERS - 1) { if :: isAt(n, r) -> comeAgain(n); leave(n) :: else fi }
  for (n : app .. file) {
    here(r, n).try = idle; here(r, n).isLeased = false; here(r, n).isLate = false;
    work[n].owner = (work[n].owner == r -> nobody : work[n].owner) }
  n = 0; receivers[r].isUp = false }
inline expire(t) {
  if :: isAbandoned(t) && !mutant(NO_EXPIRY) :: !isAbandoned(t) && fault; here(row.owner, t).isLate = true fi;
  row.state = free }
inline forget(t) { row.state = not_outstanding; row.owner = nobody; row.isDue = false; row.isDead = false }

init {
  mtype:Commit commit = committed; mtype:Verdict verdict = pending; byte n;
  atomic {
    for (n : 0 .. SENDERS - 1) { run delivery(n) }
    n = 0; run target(0, app); run target(0, file); run target(1, app) }
  do
  :: atomic { receivers[0].isUp && fault; kill(0) }
  :: atomic { receivers[1].isUp && fault; kill(1) }
  :: atomic { !receivers[1].isUp -> receivers[1].isUp = true }
  :: atomic { !receivers[0].isUp -> receivers[0].isUp = true; handle = at_path;
       if :: !isLineAtPath || !isOutstanding(file)
          :: else -> work[file].state = settled; work[file].isDead = false; conclude(0); heard(); verdict = pending fi }
  :: atomic { work[app].state == leased && (faults > 0 || isAbandoned(app)) -> expire(app) }
  :: atomic { work[file].state == leased && (faults > 0 || isAbandoned(file)) -> expire(file) }
  :: atomic { lead == known && fault; lead = erased; isAccepted = false; forget(app); forget(file) }
  :: atomic { handle == at_path && fault; isLineAtPath = false; if :: handle = renamed :: handle = removed fi }
  :: atomic { handle == renamed && fault; handle = removed }
  od }
#define isSound(t) (work[t].state == not_outstanding || (lead == known && (work[t].state != settled || had[t]) && \
  (!work[t].isDead || work[t].isTried)))
#define isKept(n) (deliveries[n].state != acknowledged || lead != unknown)
#define isOver(t) (!isOutstanding(t) || work[t].isDead)
#define isEnd (isOver(app) && isOver(file) && isAnswered(0) && isAnswered(SENDERS - 1))
/* Every sender is answered, or gives up, and every stored lead reaches its targets, or is dead there, or was erased. */
ltl reached { <> [] isEnd }
active proctype monitor() {
  do
  :: atomic { !isSound(app) || !isSound(file) || !isKept(0) || !isKept(SENDERS - 1) -> assert(false) }
  :: timeout -> assert(isEnd); break
  od }
