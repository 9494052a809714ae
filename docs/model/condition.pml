/* A condition variable: waiters with nodes of their own, which a signaller marks, one for each signal.
 *
 * A waiter creates its node W while it holds the lock, and then releases the lock. A signal is one transaction: the
 * lowest waiter without one gets a node sig-W. That waiter queues for the lock, and consumes W and sig-W in one
 * transaction when it holds it. Each waiter watches the nearest lower one. When that ends, and a sig has lost its waiter,
 * the sig is passed on to the lowest waiter without one: rule A.
 *
 * The lock is taken for granted here: a line of processes. So are the creation of W, whose reply may be lost (it is
 * protected by a unique name), and sessions: a process that dies leaves its nodes and its place in line until later. A
 * listing shows a moment, and what is done with it comes later; a watch fires at any later time. Replies to transactions
 * are lost, of those that were applied and of those that were not; then a server may show the moment before. */

#if defined(CONFIG_SIGNALS)         /* waiters that die, whose signals are passed on */
#define WAITERS  4
#define SIGNALS  2
#define CRASHES  2
#define CANCELS  0
#define TIMEOUTS 0
#define LOSSES   1
#elif defined(CONFIG_GIVING_UP)     /* waiters that give up, with the lock or without it */
#define WAITERS  3
#define SIGNALS  2
#define CRASHES  1
#define CANCELS  1
#define TIMEOUTS 1
#define LOSSES   0
#elif defined(CONFIG_IN_DOUBT)      /* several replies are lost */
#define WAITERS  3
#define SIGNALS  2
#define CRASHES  1
#define CANCELS  0
#define TIMEOUTS 0
#define LOSSES   2
#else
#error "name a configuration: -DCONFIG_SIGNALS, ..."
#endif

/* ---- the guards ---- */

#ifndef WITHOUT_NODE_FIRST
#define creates_before_it_releases true
#else
#define creates_before_it_releases false
#endif
#ifndef WITHOUT_READS_OWN
#define reads_own true
#else
#define reads_own false             /* a signal that was passed on before the own node is watched is not seen */
#endif
#ifndef WITHOUT_RULE_A
#define passes_on true
#else
#define passes_on false
#endif
#ifndef WITHOUT_ANY_LOWER
#define lower_ones(seen, sigs) (seen)
#else
#define lower_ones(seen, sigs) ((seen) & ~(sigs))   /* only one without a signal is watched */
#endif
#ifndef WITHOUT_ONE_TRANSACTION
#define moves_at_once true
#else
#define moves_at_once false         /* a sig is removed first, and the next one is created then */
#endif
#ifndef WITHOUT_LOOK_AGAIN
#define looks_again true
#else
#define looks_again false           /* one sig is passed on for each waiter that has ended */
#endif
#ifndef WITHOUT_OWN_SIGNAL
#define knows_its_own true
#else
#define knows_its_own false         /* a signal in doubt counts if its waiter has one, or has gone */
#endif
#ifndef WITHOUT_TIMEOUT_COUNTS
#define timeout_counts true
#else
#define timeout_counts false        /* who is late ends as late, although it has been signalled */
#endif

#include "promises.pml"

#define BIT(n)       (1 << (n))
#define LOWER(n)     (BIT(n) - 1)
#define highest(set) ((set) >= 16 -> 4 : ((set) >= 8 -> 3 : ((set) >= 4 -> 2 : ((set) >= 2 -> 1 : 0))))
#define lowest(set)  highest((set) & -(set))

#define SIGNALLER    5              /* the waiters are 1 to 4 */

/* ---- what the servers know ---- */

byte live, sig;                     /* waiters' nodes, in the order of their numbers; and their sigs */
byte sig_of[5];                     /* the signal that created a sig; 0: it was passed on */
byte next = 1;
chan line = [5] of { byte };        /* the lock: its first process has it */

/* ---- what is true ---- */

mtype = { BEGINS, QUEUES, LOOKED, RELEASES, WAITS, WOKEN, LATE, LEAVES, DONE };
mtype phase[5] = BEGINS;
byte losses = LOSSES, crashes = CRASHES, cancels = CANCELS, timeouts = TIMEOUTS;
byte dead, expired;
byte own[5];                        /* the node of each waiter */
byte waits;                         /* waiters that have released the lock, and want a signal */
byte meant[5];                      /* of a sig: the nodes that it could go to when it was made */
byte watched, told;                 /* nodes that their waiters watch; and those whose waiter knows of its sig */
byte on_the_way;                    /* the same, of a sig that is moved in two steps */

#define has_signal(p)   (own[p] != 0 && (sig & BIT(own[p])))
#define wants(p)        ((waits & BIT(p)) && !has_signal(p) && !(dead & BIT(p)))
#define nobody_wants    (!wants(1) && !wants(2) && !wants(3) && !wants(4))

#define orphans(seen, sigs)      ((sigs) & ~(seen))
#define unsignalled(seen, sigs)  ((seen) & ~(sigs))

#define tell(n)  told = told | (watched & BIT(n))

inline end_sig(n) { sig = sig & ~BIT(n); meant[n] = 0; sig_of[n] = 0 }

/* One transaction, with checks of both ends. */
inline move(from, to) {
  if
  :: (sig & BIT(from)) && (live & BIT(to)) && !(sig & BIT(to)) ->
       sig = sig | BIT(to); tell(to);
       meant[to] = meant[from] & ~BIT(to);
       sig_of[to] = 0;
       end_sig(from)
  :: else
  fi
}

/* ---- a waiter ---- */

#define at(p)        (phase[me] == (p) && !(dead & BIT(me)))
#define is_first     line?[eval(me)]
#define is_signalled (sig & BIT(own[me]))
#define has_moved    (orphans(seen, sigs) != 0 && unsignalled(seen, sigs) != 0)
#define next_one     lowest(unsignalled(seen, sigs))

inline look() { seen = live; sigs = sig }

inline end_wait() {
  live = live & ~BIT(own[me]);
  waits = waits & ~BIT(me);
  seen = 0; sigs = 0; before = 0;
  phase[me] = DONE
}

inline create() { own[me] = next; live = live | BIT(next); next++; look(); phase[me] = LOOKED }
inline release() { line?_; waits = waits | BIT(me) }

proctype Waiter(byte me) {
  byte seen, sigs;                  /* the newest listing */
  byte before;                      /* the node that it watches */
  bool half;                        /* it moves a sig, and has done half of it */
  byte to;
  bool passed;
end_waiter:
  do
  /* The waiters are alike: they come in the order of their numbers. */
  :: d_step { at(BEGINS) && (me == 1 || own[me - 1] != 0) -> line!me; phase[me] = QUEUES }
  :: d_step { at(QUEUES) && is_first && creates_before_it_releases -> create() }
  :: d_step { at(QUEUES) && is_first && !creates_before_it_releases && !(waits & BIT(me)) -> release() }
  :: d_step { at(QUEUES) && (waits & BIT(me)) -> create() }

  /* With the lock: what is left belongs to those who were there before, or to nobody. */
#define is_alone     (unsignalled(seen, sigs) == BIT(own[me]))
  :: d_step { at(LOOKED) && !(waits & BIT(me)) && orphans(seen, sigs) != 0 && is_alone && !half ->
       promise(no_signal_is_lost, (meant[lowest(orphans(seen, sigs))] & live & ~sig & ~BIT(own[me])) == 0);
       end_sig(lowest(orphans(seen, sigs))); look() }

  /* Rule A: a sig that has lost its waiter goes to the lowest one without. */
  :: d_step { at(LOOKED) && passes_on && has_moved && !half && moves_at_once && !passed ->
       move(lowest(orphans(seen, sigs)), next_one); look(); passed = !looks_again }
  :: d_step { at(LOOKED) && passes_on && has_moved && !half && moves_at_once && !passed && losses > 0 ->
       losses--; move(lowest(orphans(seen, sigs)), next_one) }  /* the reply is lost, and a server shows the moment before */
  :: d_step { at(LOOKED) && passes_on && has_moved && losses > 0 && moves_at_once && !passed -> losses--; look() }
  :: d_step { at(LOOKED) && passes_on && has_moved && !half && !moves_at_once ->
       if
       :: (sig & BIT(lowest(orphans(seen, sigs)))) && on_the_way == 0 ->
            half = true; to = next_one; on_the_way = meant[lowest(orphans(seen, sigs))]; end_sig(lowest(orphans(seen, sigs)))
       :: else -> look()
       fi }
  :: d_step { at(LOOKED) && half ->
       if
       :: (live & BIT(to)) && !(sig & BIT(to)) -> sig = sig | BIT(to); tell(to); meant[to] = on_the_way & ~BIT(to); on_the_way = 0
       :: else
       fi;
       half = false; to = 0; look() }

  /* It watches its own node, */
  :: d_step { at(LOOKED) && !half && !(watched & BIT(own[me])) ->
       watched = watched | BIT(own[me]);
       if :: reads_own && is_signalled -> told = told | BIT(own[me]) :: else fi }
  /* and the nearest lower one. */
  :: d_step { at(LOOKED) && (watched & BIT(own[me])) && !half && (!passes_on || !has_moved || passed) ->
       before = highest(lower_ones(seen, sigs) & LOWER(own[me]));
       if
       :: before != 0 && !(live & BIT(before)) -> look()
       :: else -> seen = 0; sigs = 0; passed = false; phase[me] = ((waits & BIT(me)) -> WAITS : RELEASES)
       fi }
  :: d_step { at(RELEASES) -> release(); phase[me] = WAITS }

  :: d_step { at(WAITS) && (told & BIT(own[me])) -> before = 0; line!me; phase[me] = WOKEN }
  :: d_step { at(WAITS) && before != 0 && !(live & BIT(before)) -> before = 0; look(); phase[me] = LOOKED }
  :: d_step { at(WOKEN) && is_first -> line?_; end_sig(own[me]); end_wait() }

  /* It is late, and queues for the lock all the same. Then a signal counts. */
  :: d_step { at(WAITS) && timeouts > 0 -> timeouts--; waits = waits & ~BIT(me); before = 0; line!me; phase[me] = LATE }
  :: d_step { at(LATE) && is_first && is_signalled -> line?_;
       promise(no_signal_is_lost, timeout_counts || (meant[own[me]] & live & ~sig) == 0);
       end_sig(own[me]); end_wait() }
  :: d_step { at(LATE) && is_first && !is_signalled -> line?_; phase[me] = LEAVES }

  /* It gives up. Only its node goes: a signal that has come, or comes now, is passed on by those behind. */
  :: d_step { at(WAITS) && cancels > 0 -> cancels--; waits = waits & ~BIT(me); before = 0; phase[me] = LEAVES }
  :: d_step { at(WOKEN) && cancels > 0 -> cancels--; waits = waits & ~BIT(me); line??eval(me); phase[me] = LEAVES }
  :: d_step { at(LEAVES) -> end_wait() }
  od
}

/* ---- a signaller ---- */

mtype = { CHOOSES, IN_DOUBT };

inline put(n) {
  if
  :: (live & BIT(n)) && !(sig & BIT(n)) ->
       meant[n] = live & ~sig & ~BIT(n);
       sig = sig | BIT(n); sig_of[n] = signal; tell(n);
       applied = true
  :: else -> refused = true
  fi
}

inline list() {
  seen = live; sigs = sig; refused = false;
  if :: nobody_wants -> nobody = true :: else fi
}

inline end_signal() {
  promise(no_signal_is_lost, applied || nobody);
  line?_;
  seen = 0; sigs = 0; applied = false; nobody = false; refused = false;
  does = BEGINS
}

proctype Signaller() {
  byte seen, sigs, signal;
  bool applied, refused, nobody;
  byte asked;                       /* the node of the signal in doubt */
  mtype does = BEGINS;
  byte me = SIGNALLER;
end_signaller:
  do
  :: d_step { does == BEGINS && signal < SIGNALS -> signal++; line!SIGNALLER; does = QUEUES }
  :: d_step { does == QUEUES && is_first -> list(); does = CHOOSES }

  :: d_step { does == CHOOSES && !refused && next_one != 0 -> put(next_one);
       if :: refused :: else -> end_signal() fi }
  :: d_step { does == CHOOSES && refused -> list() }
  :: d_step { does == CHOOSES && !refused && next_one == 0 -> end_signal() }

  :: d_step { does == CHOOSES && !refused && next_one != 0 && losses > 0 -> losses--; put(next_one); does = IN_DOUBT }
  :: d_step { does == CHOOSES && !refused && next_one != 0 && losses > 0 -> losses--; does = IN_DOUBT }
  :: d_step { does == IN_DOUBT && knows_its_own -> asked = next_one; list();
       if
       :: (sigs & BIT(asked)) && sig_of[asked] == signal -> end_signal()
       :: else -> does = CHOOSES
       fi;
       asked = 0 }
  :: d_step { does == IN_DOUBT && !knows_its_own -> asked = next_one; list();
       if
       :: !(seen & BIT(asked)) || (sigs & BIT(asked)) -> end_signal()
       :: else -> does = CHOOSES
       fi;
       asked = 0 }
  :: d_step { does == IN_DOUBT -> does = CHOOSES }     /* a server shows the moment before */
  od
}

/* ---- what befalls them ---- */

/* Before it has a node, nobody relies on a waiter. */
#define may_die(p)    (crashes > 0 && own[p] != 0 && phase[p] != DONE && !(dead & BIT(p)))
#define may_expire(p) ((dead & BIT(p)) && !(expired & BIT(p)))

inline die(p) { dead = dead | BIT(p); crashes--; waits = waits & ~BIT(p) }
inline expire(p) {
  expired = expired | BIT(p);
  live = live & ~BIT(own[p]);
  if :: line??[eval(p)] -> line??eval(p) :: else fi
}

active proctype Fate() {
  byte n;
  atomic { run Waiter(1); run Waiter(2); run Waiter(3);
    if :: WAITERS == 4 -> run Waiter(4) :: else fi;
    run Signaller() }
  do
  :: d_step { may_die(1) -> die(1) }
  :: d_step { may_die(2) -> die(2) }
  :: d_step { may_die(3) -> die(3) }
  :: d_step { may_die(4) -> die(4) }
  :: d_step { may_expire(1) -> expire(1) }
  :: d_step { may_expire(2) -> expire(2) }
  :: d_step { may_expire(3) -> expire(3) }
  :: d_step { may_expire(4) -> expire(4) }
  :: timeout -> break
  od;
  /* Nothing moves any more. */
  promise(no_signal_is_lost, (on_the_way & live & ~sig) == 0);
  for (n : 1 .. WAITERS) {
    promise(nobody_is_stuck, (dead & BIT(n)) || phase[n] == DONE || (phase[n] == WAITS && !has_signal(n)));
    promise(no_signal_is_lost, !(sig & BIT(n)) || (live & BIT(n)) || (meant[n] & live & ~sig) == 0)
  }
}
