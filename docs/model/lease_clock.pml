/* The lease clock: why a client that is not stopped knows that its session is over before the servers end it.
 *
 * The leader ends a session T after it was last touched. A request touches when the leader itself processes it. A
 * follower notes it, and tells the leader in its answer to the next ping, within the touch interval. A server that is
 * cut off from the others goes on to answer reads, and to accept connections, and nobody hears of it.
 *
 * So no single reply proves a touch. A request i, answered, is credited with the time at which it was *sent* when
 * another one, j, sent on the same connection a touch interval after the answer to i, is answered with what a quorum
 * has decided: between the two the server was in contact, and has told.
 *
 * Time passes in ticks for all at once; the margin for clocks that do not is left out. An age is the number of ticks
 * since something happened, T at the most: a session of that age may be over. */

#ifndef CONFIG_CLOCK
#error "name a configuration: -DCONFIG_CLOCK"
#endif

#define T      8
#define TOUCH  3

#ifndef WITHOUT_CREDIT
#define counts_from_the_credited_send true
#else
#define counts_from_the_credited_send false   /* but from when the connection breaks */
#endif
#ifndef WITHOUT_SECOND_REQUEST
#define waits_for_a_second_request true
#else
#define waits_for_a_second_request false
#endif
#ifndef WITHOUT_TOUCH_INTERVAL
#define keeps_them_apart true
#else
#define keeps_them_apart false
#endif
#ifndef WITHOUT_QUORUM_RESULT
#define wants_a_quorum_result true
#else
#define wants_a_quorum_result false
#endif

#include "promises.pml"

#define older(age)  age = ((age) < T -> (age) + 1 : T)

mtype = { NOWHERE, LEADER, FOLLOWER, CUT_OFF };
mtype = { NONE, CONNECT, READ, WRITE };

/* The servers. */
byte touched;                   /* the age of the last touch, at the leader */
bool over;
bool noted;                     /* the follower has something to tell */
byte noted_age;                 /* and since when */

/* The client, and its connection. */
mtype server = LEADER;
byte credited;                  /* what its clock counts from */
mtype request = NONE;           /* on its way; one at a time */
bool processed;
byte request_sent;
bool proves;                    /* it was sent late enough to prove the candidate */
bool candidate;                 /* the request i of above */
byte candidate_sent, candidate_answered;

#define clock_out  (credited >= T)

inline forget() {
  request = NONE; processed = false; proves = false; request_sent = 0;
  candidate = false; candidate_sent = 0; candidate_answered = 0
}

inline send(kind) {
  request = kind; processed = false; request_sent = 0;
  proves = candidate && (candidate_answered >= TOUCH || !keeps_them_apart)
}

inline touch() {
  if
  :: server == LEADER -> touched = 0
  :: server == FOLLOWER -> if :: noted :: else -> noted = true; noted_age = 0 fi
  :: else
  fi
}

active proctype World() {
end:
  do
  /* What is assumed of the servers: a follower in contact tells before the touch interval is over. */
  :: d_step { !over && !clock_out && !(noted && noted_age + 1 >= TOUCH) ->
       older(touched); older(credited);
       request_sent = (request != NONE -> (request_sent < T -> request_sent + 1 : T) : 0);
       candidate_sent = (candidate -> (candidate_sent < T -> candidate_sent + 1 : T) : 0);
       candidate_answered = (candidate -> (candidate_answered < TOUCH -> candidate_answered + 1 : TOUCH) : 0);
       noted_age = (noted -> noted_age + 1 : 0);
       credited = (!counts_from_the_credited_send && server != NOWHERE -> 0 : credited)
     }
  :: d_step { noted -> noted = false; noted_age = 0; touched = 0 }
  :: d_step { server == FOLLOWER -> server = CUT_OFF; noted = false; noted_age = 0 }
  :: d_step { server == LEADER -> server = CUT_OFF }    /* deposed, without knowing */
  :: d_step { touched >= T && !over -> over = true; promise(told_in_time, clock_out) }
  od
}

active proctype Client() {
end:
  do
  :: d_step { !over && server != NOWHERE && request == NONE -> send(READ) }
  :: d_step { !over && server != NOWHERE && request == NONE -> send(WRITE) }

  :: d_step { !over && request != NONE && !processed && !(request == WRITE && server == CUT_OFF) ->
       processed = true;
       touch();
       /* The leader itself is asked whether a session may move to another server. */
       touched = (request == CONNECT && server != CUT_OFF -> 0 : touched)
     }

  :: atomic { processed ->
       d_step {
         if
         :: proves && (request == WRITE || !wants_a_quorum_result) && candidate_sent < credited ->
            credited = candidate_sent
         :: request != CONNECT && !waits_for_a_second_request && request_sent < credited -> credited = request_sent
         :: else
         fi
       };
       /* Which of several it keeps in mind is of no importance. */
       if
       :: candidate
       :: candidate = true; candidate_sent = request_sent;
          candidate_answered = (request == CONNECT -> TOUCH : 0)   /* the leader itself was asked, and touched it */
       fi;
       request = NONE; processed = false; proves = false; request_sent = 0
     }

  :: d_step { !over && server != NOWHERE -> forget(); server = NOWHERE }
  :: atomic { !over && server == NOWHERE ->
       if :: server = LEADER :: server = FOLLOWER :: server = CUT_OFF fi;
       d_step { noted = false; noted_age = 0; send(CONNECT) }
     }
  od
}
