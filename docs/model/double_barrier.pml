/* A double barrier: members that begin together and end together, party after party, on one path.
 *
 * A member creates its node, lists, and creates the ready node when enough are there, in a transaction that checks each member
 * of the listing. A member that gives up removes its node by a transaction that checks the barrier's version, which every
 * transaction changes by which somebody is in. The lowest member leaves last, and takes the ready node along.
 *
 * A listing shows a moment, and what is done with it comes later; so does an event. Replies to transactions are lost; a
 * member then looks again. A process that dies leaves its node until later. All nodes of a member bear its name: one that was
 * given up in doubt may be there beside the next one, for a while. */

#if defined(CONFIG_PARTIES)         /* two members, party after party; one gives up */
#define MEMBERS  2
#define NEEDED   2
#define ROUNDS   2
#define CRASHES  0
#define CANCELS  1
#define GHOSTS   0
#elif defined(CONFIG_CRASHES)       /* three members, of whom two are needed; two die */
#define MEMBERS  3
#define NEEDED   2
#define ROUNDS   1
#define CRASHES  2
#define CANCELS  0
#define GHOSTS   0
#elif defined(CONFIG_LATE)          /* three members, of whom two are needed; those that are late join */
#define MEMBERS  3
#define NEEDED   2
#define ROUNDS   2
#define CRASHES  0
#define CANCELS  0
#define GHOSTS   0
#elif defined(CONFIG_GHOSTS)        /* a node that was given up comes late */
#define MEMBERS  2
#define NEEDED   2
#define ROUNDS   1
#define CRASHES  0
#define CANCELS  1
#define GHOSTS   1
#else
#error "name a configuration: -DCONFIG_PARTIES, ..."
#endif

/* ---- the guards ---- */

#ifndef WITHOUT_CHECKED_MEMBERS
#define checks_members true
#else
#define checks_members false        /* what was listed is counted, as Curator and kazoo do */
#endif
#ifndef WITHOUT_CHECKED_WITHDRAWAL
#define checks_withdrawal true
#else
#define checks_withdrawal false     /* who gives up removes its node, and that is that */
#endif
#ifndef WITHOUT_CHECKED_END
#define checks_end true
#else
#define checks_end false            /* the last one takes the ready node, though somebody has joined */
#endif
#ifndef WITHOUT_COMPANY
#define checks_company true
#else
#define checks_company false        /* who is late joins a ready node, whether anybody is left or not */
#endif
#ifndef WITHOUT_OWN_PARTY
#define own_party true
#else
#define own_party false             /* who has left waits until nobody is listed */
#endif
#ifndef WITHOUT_STALE
#define removes_stale true
#else
#define removes_stale false         /* a ready node that was left behind lets everybody in */
#endif
#ifndef WITHOUT_ONE_NAME
#define one_name true
#else
#define one_name false              /* nodes are counted, and not members */
#endif

#include "promises.pml"

#define BIT(n) (1 << (n))

/* ---- what the servers know ---- */

byte live;                          /* members with a node */
byte ghosts;                        /* members with a node that they have given up */
bool ready;
byte named;                         /* whom the ready node names */
byte version;                       /* of the barrier: counts the changes of who is in, modulo 16 */
byte party;                         /* counts the parties, modulo 16 */

/* ---- what is true ---- */

mtype = { OUTSIDE, CREATED, LISTED, SLEEPS, LATE_LISTED, IN, LEAVING, LEAVES, WAITS_FOR, GIVING_UP, GIVES_UP, DONE };
mtype phase[3] = OUTSIDE;
byte dead, expired;
byte crashes = CRASHES, cancels = CANCELS, ghosts_left = GHOSTS;
byte incarnation[3];                /* of a member's node, modulo 4 */
byte inside;                        /* those that are in: from the moment at which a party counts them, until they leave */

#define count_of(set)  (((set) & 1) + (((set) >> 1) & 1) + (((set) >> 2) & 1))
#define bump           version = (version + 1) % 16

inline look() { seen = live; seen_ghosts = ghosts; seen_version = version; seen_ready = ready; seen_named = named }
inline forget() { seen = 0; seen_ghosts = 0; seen_version = 0; seen_ready = false; seen_named = 0 }

/* Those of the listing that are in: a member that has come, and has not joined, may belong to the next party. */
#define in_party  (own_party -> (seen & seen_named) : seen)
#define listed    (one_name -> count_of(seen | seen_ghosts) : (count_of(seen) + count_of(seen_ghosts)))
#define at(p)     (phase[me] == (p) && !(dead & BIT(me)))
#define is_named  (named & BIT(me))
#define is_lowest ((in_party & (BIT(me) - 1)) == 0)

/* A party begins: those that the ready node names are in, who are there. */
inline begin_party() {
  ready = true; named = seen; bump; party = (party + 1) % 16;
  inside = inside | (seen & live);
  promise(together, count_of((seen & live) | (seen_ghosts & ghosts)) >= NEEDED)
}

proctype Member(byte me) {
  byte seen, seen_ghosts, seen_version, seen_named;
  bool seen_ready;
  byte others;                      /* whom it waits for when it has left */
  byte nodes[3];                    /* and which of their nodes */
  byte round;
  byte i;
end_member:
  do
  :: d_step { at(OUTSIDE) && round < ROUNDS -> round++; live = live | BIT(me);
       incarnation[me] = (incarnation[me] + 1) % 4; phase[me] = CREATED }
  :: d_step { at(OUTSIDE) && round == ROUNDS -> phase[me] = DONE }

  :: d_step { at(CREATED) -> look(); phase[me] = LISTED }
  :: d_step { at(LISTED) && seen_ready && is_named && ready -> forget(); phase[me] = IN }
  :: d_step { at(LISTED) && seen_ready && !(is_named && ready) -> look(); phase[me] = LATE_LISTED }
  :: d_step { at(LISTED) && !seen_ready && listed < NEEDED -> forget(); phase[me] = SLEEPS }
  :: d_step { at(LISTED) && !seen_ready && listed >= NEEDED ->
       if
       :: !ready && (!checks_members || (((seen & live) == seen) && ((seen_ghosts & ghosts) == seen_ghosts))) ->
            begin_party();
            if
            :: true -> phase[me] = IN
            :: true -> phase[me] = CREATED          /* the reply is lost */
            fi
       :: else -> phase[me] = CREATED
       fi;
       forget() }

  /* The event of the ready node's creation, or a doubt. */
  :: d_step { at(SLEEPS) && (ready || !(live & BIT(me))) -> phase[me] = CREATED }

  /* It is not named. */
  :: d_step { at(LATE_LISTED) && (!seen_ready || is_named) -> forget(); phase[me] = CREATED }
  :: d_step { at(LATE_LISTED) && seen_ready && !is_named && removes_stale && (seen_named & seen & ~BIT(me)) == 0 ->
       if
       :: version == seen_version && ready -> ready = false; named = 0
       :: else
       fi;
       forget(); phase[me] = CREATED }
  :: d_step { at(LATE_LISTED) && seen_ready && !is_named && (!removes_stale || (seen_named & seen & ~BIT(me)) != 0) ->
       if
       :: version == seen_version && ready && (!checks_company || !removes_stale || (named & seen & live & ~BIT(me)) != 0) ->
            named = (named & seen) | BIT(me); bump; inside = inside | BIT(me);
            promise(together, count_of(named & live) >= 2);
            phase[me] = IN
       :: else -> phase[me] = CREATED
       fi;
       forget() }

  /* ---- leaving ---- */
  :: d_step { at(IN) -> phase[me] = LEAVING; inside = inside & ~BIT(me) }
  :: d_step { at(LEAVING) -> look(); phase[me] = LEAVES }
  :: d_step { at(LEAVES) && (live & BIT(me)) && in_party == BIT(me) ->
       if
       :: (version == seen_version || !checks_end) ->
            promise(nobody_is_left_inside, (live & inside) == 0);
            live = live & ~BIT(me); ready = false; named = 0; forget(); phase[me] = OUTSIDE
       :: else -> forget(); phase[me] = LEAVING
       fi }
  :: d_step { at(LEAVES) && (live & BIT(me)) && in_party != BIT(me) && is_lowest ->
       /* It waits for a higher one, and looks again. */
       others = in_party & ~BIT(me); forget(); phase[me] = WAITS_FOR }
  :: d_step { at(WAITS_FOR) && (live & BIT(me)) && (live & others) != others -> others = 0; phase[me] = LEAVING }
  :: d_step { at(LEAVES) && (live & BIT(me)) && in_party != BIT(me) && !is_lowest ->
       others = in_party & ~BIT(me);
       for (i : 0 .. 2) { nodes[i] = incarnation[i] }
       i = 0;
       live = live & ~BIT(me);
       named = named & ~BIT(me);     /* its next node has another name */
       forget(); phase[me] = WAITS_FOR }
#define is_of(n)  ((others & BIT(n)) && (live & BIT(n)) && (!own_party || nodes[n] == incarnation[n]))
#define all_gone  (!own_party -> (live & ~BIT(me)) == 0 : (!is_of(0) && !is_of(1) && !is_of(2)))
  :: d_step { at(WAITS_FOR) && !(live & BIT(me)) && all_gone -> others = 0;
       for (i : 0 .. 2) { nodes[i] = 0 }
       i = 0;
       phase[me] = OUTSIDE }

  /* ---- giving up ---- */
  :: d_step { at(SLEEPS) && cancels > 0 -> cancels--; phase[me] = GIVING_UP }
  :: d_step { at(GIVING_UP) -> look(); phase[me] = GIVES_UP }
  :: d_step { at(GIVES_UP) && seen_ready && (seen_named & BIT(me)) -> forget(); phase[me] = IN }
  :: d_step { at(GIVES_UP) && !(seen_ready && (seen_named & BIT(me))) ->
       if
       :: version == seen_version || !checks_withdrawal ->
            promise(counted_or_out, !(inside & BIT(me)));
            live = live & ~BIT(me); round--;
            if
            :: ghosts_left > 0 -> ghosts_left--; ghosts = ghosts | BIT(me)
            :: true
            fi;
            phase[me] = OUTSIDE
       :: else -> phase[me] = GIVING_UP
       fi;
       forget() }
  :: d_step { (ghosts & BIT(me)) -> ghosts = ghosts & ~BIT(me) }
  od
}

active proctype Fate() {
  byte n;
  atomic { run Member(0); run Member(1);
    if :: MEMBERS == 3 -> run Member(2) :: else fi }
  do
  :: d_step { crashes > 0 && (live & 1) && !(dead & 1) -> crashes--; dead = dead | 1; inside = inside & ~1 }
  :: d_step { crashes > 0 && (live & 2) && !(dead & 2) -> crashes--; dead = dead | 2; inside = inside & ~2 }
  :: d_step { crashes > 0 && (live & 4) && !(dead & 4) -> crashes--; dead = dead | 4; inside = inside & ~4 }
  :: d_step { (dead & ~expired) != 0 -> n = ((dead & ~expired) & 1 -> 1 : ((dead & ~expired) & 2 -> 2 : 4));
       expired = expired | n; live = live & ~n; n = 0 }
  :: timeout -> break
  od;
  /* Nothing moves any more: all are done, or too few are there, and sleep. */
  for (n : 0 .. MEMBERS - 1) {
    promise(nobody_is_stuck, (dead & BIT(n)) || phase[n] == DONE || (phase[n] == SLEEPS && count_of(live) < NEEDED))
  }
}
