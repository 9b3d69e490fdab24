/*
 * The delivery protocol, for the model checker Spin: one lead, since leads do not meet, and two receivers on one inbox. The
 * app is the target of both, the file of the first, since a file belongs to its host. delivery.test.ts runs and breaks it.
 *
 *   delivery     src/receiver/receiver.ts: received, stored, answered; what begins at once; and the sender around it
 *   target       src/receiver/forward-worker.ts: claim, deliver, record; targets/append.ts (opened, written)
 *   rows         the table `forwards`: src/inbox/sql/forwards.ts
 *   transaction  by either driver; a COMMIT may fail, and it may have happened although its answer is lost or an error
 *   init         kills and restarts, claims that end, `inbox erase`, `inbox retry`, rotation of the file
 *
 * One atomic step is one transaction, or one turn of the event loop. At most FAULTS things go wrong, of any kinds and at any
 * time. Time has no length: what is due later may be due now. A claim outlasts its attempt, unless the machine sleeps, which
 * is a fault. Left out: pruning, and giving up untried what waited for a target that was away for days.
 */
#define app 0
#define file 1
mtype:Mutant = { NONE, ANSWER_EARLY, CHECK_OUTSIDE, LOST_COMMIT_IS_TAKEN, ROWS_LATER, NO_WORKER, CLAIM_NEVER_ENDS, CLAIM_SHORT,
  CLAIM_WITHOUT_LOOK, READ_BEFORE_CLAIM, DONE_EARLY, RECORD_LOST, RECORD_WITHOUT_NUMBER, NUMBER_COMES_AGAIN, DEAD_WITHOUT_TRY,
  RETRY_ENDS_CLAIM, ERASE_MISSED, APPEND_WITHOUT_LOOK, APPEND_TO_OPEN_FILE }
mtype:Lead = { unknown, known, erased }; mtype:Row = { no_row, waiting, done, dead }
mtype:Step = { unsent, received, stored, acknowledged, given_up }; mtype:Verdict = { accepted, duplicate, cannot_store }
mtype:Try = { idle, claimed, in_flight, opened, written, taken, failed, untried }; mtype:Handle = { at_path, renamed, removed }
mtype:Commit = { committed, unanswered, rolled_back }
typedef Row { mtype:Row state = no_row; byte number; bool isClaimed; bool isTried }
typedef Here { mtype:Try try = idle; byte number; bool isLate }
typedef Receiver { bool isUp = true; Here at[2] }
typedef Delivery { mtype:Step state = unsent; mtype:Verdict kind = cannot_store; bool isReserved[2]; bool isLate }
mtype:Lead lead = unknown; Row rows[2]; byte takenBy;
Receiver receivers[2]; Delivery deliveries[SENDERS]; byte receiverOf[SENDERS];
mtype:Handle handle = at_path; bool isLineAtPath;
byte faults = FAULTS;    /* that may still come */
bool had[2];             /* which targets got the lead */
bool isSaid[2];          /* and of which somebody said so */
byte accepts;            /* how often somebody heard that it was accepted */

#define mutant(m) (MUTANT == m)
#define fault faults > 0 -> faults--
#define d deliveries[i]
#define mine receiverOf[i]
#define other deliveries[n]
#define row rows[t]
#define here(r, t) receivers[r].at[t]
#define me here(r, t)
#define isWanted(r, t) (t == app || r == 0)
#define isUndone(t) (rows[t].state == waiting || rows[t].state == dead)
#define isFree(t) (rows[t].state == waiting && !rows[t].isClaimed)
#define isSending(r, t) (here(r, t).try == in_flight || here(r, t).try == opened || here(r, t).try == written)
#define isAnswered(n) (deliveries[n].state == acknowledged || deliveries[n].state == given_up)
#define isAt(n, r) (receiverOf[n] == r && other.state != unsent && !isAnswered(n))
#define isReservedBy(n, t) (deliveries[n].state == stored && deliveries[n].isReserved[t])
#define isHolding(r, t) (here(r, t).try != idle && here(r, t).number == rows[t].number)
#define isAbandoned(t) (!isHolding(0, t) && !isHolding(1, t) && !isReservedBy(0, t) && !isReservedBy(SENDERS - 1, t))

inline transaction() { if :: commit = committed :: fault; commit = rolled_back :: fault; commit = unanswered fi }
inline claim(r, t) { row.number++; row.isClaimed = true }
inline insert(r, t) { /* a new lead waits, or is claimed at once for who has a place for it */
  if :: !isWanted(r, t) || row.state != no_row
     :: else -> row.state = waiting;
        if :: skip :: claim(r, t); d.isReserved[t] = true fi fi }
inline take(r) {
  if :: lead != unknown && !(mutant(CHECK_OUTSIDE) && !seen) -> d.kind = duplicate
     :: else -> lead = known; takenBy = r; d.kind = accepted;
        if :: mutant(ROWS_LATER) :: !mutant(ROWS_LATER) -> insert(r, app); insert(r, file) fi fi }
inline hear() {
  if :: mutant(LOST_COMMIT_IS_TAKEN) && commit == rolled_back -> d.kind = duplicate
     :: commit != committed -> d.kind = cannot_store; d.isReserved[app] = false; d.isReserved[file] = false
     :: else -> accepts = accepts + (d.kind == accepted -> 1 : 0); assert(accepts <= 1) fi;
  commit = committed }
inline begin(r, t) { /* never two attempts at the same time, unless a claim ended under one */
  assert(me.isLate || !isSending(1 - r, t) || here(1 - r, t).isLate);
  me.try = in_flight; row.state = (mutant(DONE_EARLY) -> done : row.state) }
inline beginAtOnce(r, t) {
  if :: !d.isReserved[t] || me.try != idle :: else -> me.number = 1; me.isLate = d.isLate; begin(r, t) fi }
inline comeAgain(n) { if :: other.state = unsent :: other.state = given_up fi } /* a sender that got no 200 does, or not */
inline leave(n) {
  other.kind = cannot_store; receiverOf[n] = 0; other.isLate = false;
  other.isReserved[app] = false; other.isReserved[file] = false }

proctype delivery(byte i) {
  mtype:Commit commit = committed; bool hasLooked, seen;
  do
  :: atomic { d.state == unsent && (receivers[0].isUp || receivers[1].isUp) -> d.state = received;
       if :: receivers[0].isUp -> mine = 0 :: receivers[1].isUp -> mine = 1 fi }
  :: atomic { mutant(ANSWER_EARLY) && d.state == received -> d.state = acknowledged }
  :: atomic { mutant(CHECK_OUTSIDE) && d.state == received && !hasLooked -> hasLooked = true; seen = lead != unknown }
  :: atomic { d.state == received && (hasLooked || !mutant(CHECK_OUTSIDE)) ->
       transaction(); if :: commit != rolled_back -> take(mine) :: else fi; hear(); d.state = stored }
  :: atomic { d.state == stored -> beginAtOnce(mine, app); beginAtOnce(mine, file);
       if :: d.kind != cannot_store -> d.state = acknowledged :: else -> comeAgain(i) fi; leave(i) }
  od }
inline rest() { me.try = idle; me.number = 0; me.isLate = false }
inline release(r, t) { /* by who has the row's claim; a number that comes again may be that of another one */
  row.isClaimed = false; row.number = (me.try == untried && mutant(NUMBER_COMES_AGAIN) -> row.number - 1 : row.number) }
inline record(r, t) {
  if :: me.try == taken && (row.state != no_row || mutant(ERASE_MISSED)) -> row.state = done; row.isClaimed = false
     :: me.try != taken && isUndone(t) && (row.number == me.number || mutant(RECORD_WITHOUT_NUMBER)) ->
        release(r, t);
        if :: me.try == untried :: me.try == failed -> row.isTried = true; if :: skip :: row.state = dead fi fi
     :: else fi }
proctype target(byte r; byte t) {
  mtype:Commit commit = committed; bool hasLooked;
#define isReady (receivers[r].isUp && me.try == idle && !mutant(NO_WORKER))
  do
  :: atomic { mutant(CLAIM_WITHOUT_LOOK) && isReady && isFree(t) && !hasLooked -> hasLooked = true }
  :: atomic { isReady && (mutant(CLAIM_WITHOUT_LOOK) -> hasLooked && row.state == waiting : isFree(t)) -> hasLooked = false;
       transaction();
       if :: commit == rolled_back
          :: commit == unanswered -> claim(r, t) /* nobody knows of it */
          :: else -> claim(r, t); me.try = claimed; me.number = row.number;
             row.state = (mutant(DEAD_WITHOUT_TRY) -> dead : row.state) fi;
       commit = committed }
  :: atomic { me.try == claimed -> /* the lead is read */
       if :: lead == erased && !mutant(READ_BEFORE_CLAIM) -> me.try = failed
          :: else -> assert(lead == known); begin(r, t) fi }
  :: atomic { me.try == claimed && fault; me.try = untried } /* too late to begin within the claim */
  :: atomic { me.try == in_flight && t == app -> had[t] = true; me.try = taken }
  :: atomic { me.try == in_flight && t == file ->
       me.try = opened; handle = (mutant(APPEND_TO_OPEN_FILE) -> handle : at_path) }
  :: atomic { me.try == (t == app -> in_flight : opened) && fault; me.try = failed }
  :: atomic { me.try == opened -> me.try = written;
       had[t] = had[t] || handle != removed; isLineAtPath = isLineAtPath || handle == at_path }
  :: atomic { me.try == written -> me.try = (handle == removed && !mutant(APPEND_WITHOUT_LOOK) -> in_flight : taken) }
  :: atomic { me.try == taken || me.try == failed || me.try == untried -> /* again until the inbox has said that it has it */
       transaction(); if :: commit != rolled_back -> record(r, t) :: else fi;
       if :: commit == committed || mutant(RECORD_LOST) -> isSaid[t] = isSaid[t] || me.try == taken; rest()
          :: else fi;
       commit = committed }
  od }
inline kill(r) {
  for (n : 0 .. SENDERS - 1) { if :: isAt(n, r) -> comeAgain(n); leave(n) :: else fi }
  for (n : app .. file) { here(r, n).try = idle; here(r, n).number = 0; here(r, n).isLate = false }
  n = 0; receivers[r].isUp = false }
inline late(r, t) { me.isLate = me.isLate || isHolding(r, t) }
inline expire(t) { /* a claim outlasts its attempt, or the machine slept */
  if :: isAbandoned(t) && !mutant(CLAIM_NEVER_ENDS) -> row.isClaimed = false
     :: mutant(CLAIM_SHORT) -> row.isClaimed = false
     :: !isAbandoned(t) && fault; late(0, t); late(1, t); row.isClaimed = false;
        for (n : 0 .. SENDERS - 1) { other.isLate = other.isLate || isReservedBy(n, t) } n = 0 fi }
inline forget(t) { row.state = no_row; row.number = 0; row.isClaimed = false; row.isTried = false }
inline makeDue(t) {
  if :: isUndone(t) -> row.state = waiting; row.isClaimed = row.isClaimed && !mutant(RETRY_ENDS_CLAIM);
        row.number = (mutant(NUMBER_COMES_AGAIN) -> 0 : row.number)
     :: else fi }

init {
  mtype:Commit commit = committed; byte n;
  atomic {
    for (n : 0 .. SENDERS - 1) { run delivery(n) }
    n = 0; run target(0, app); run target(0, file); run target(1, app) }
  do
  :: atomic { receivers[0].isUp && fault; kill(0) }
  :: atomic { receivers[1].isUp && fault; kill(1) }
  :: atomic { !receivers[1].isUp -> receivers[1].isUp = true }
  :: atomic { !receivers[0].isUp -> receivers[0].isUp = true; handle = at_path;
       if :: !isLineAtPath || !isUndone(file) :: else -> rows[file].state = done; rows[file].isClaimed = false fi }
  :: atomic { rows[app].isClaimed && isUndone(app) && (faults > 0 || isAbandoned(app) || mutant(CLAIM_SHORT)) -> expire(app) }
  :: atomic { rows[file].isClaimed && isUndone(file) && (faults > 0 || isAbandoned(file) || mutant(CLAIM_SHORT)) -> expire(file) }
  :: atomic { lead == known && fault; lead = erased; forget(app); forget(file) }
  :: atomic { (isUndone(app) || isUndone(file)) && fault; makeDue(app); makeDue(file) }
  :: atomic { handle == at_path && fault; isLineAtPath = false; if :: handle = renamed :: handle = removed fi }
  :: atomic { handle == renamed && fault; handle = removed }
  od }
#define isSound(t) ((rows[t].state == no_row || (lead == known && (rows[t].state != done || had[t]) && \
  (rows[t].state != dead || rows[t].isTried))) && (rows[t].state != no_row || lead != known || !isWanted(takenBy, t)) && \
  (!isSaid[t] || rows[t].state == done || lead == erased))
#define isKept(n) (deliveries[n].state != acknowledged || lead != unknown)
#define isEnd (rows[app].state != waiting && rows[file].state != waiting && isAnswered(0) && isAnswered(SENDERS - 1))
/* Every sender is answered, or gives up, and every stored lead reaches its targets, or is dead there, or was erased. */
ltl reached { <> [] isEnd }
active proctype monitor() {
  do
  :: atomic { !isSound(app) || !isSound(file) || !isKept(0) || !isKept(SENDERS - 1) -> assert(false) }
  :: timeout -> assert(isEnd); break
  od }
