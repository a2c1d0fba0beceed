"""Engine two: agents as greenlets in virtual time, every choice recorded.

What runs here is a target's own code, unchanged, in one thread. A Python target of your own runs here
too if it

* takes the time from ``env.clock`` and hands mail to ``env.transport``,
* takes its locks through `leaserace.harness.points.Section`, or needs none,
* calls `leaserace.harness.point` between two steps that a crash or another agent could part,
* for exhaustive search, shows what its store holds as a hashable ``content()``.

Controlled, and so a choice that is written down: who moves from one point to the next; a crash, with a
restart as the next incarnation; a lost reply; a transport that refuses, or takes a message and says
nothing; a store that is busy because somebody stands still inside it; the store's clock, put just before,
at or just after the next deadline; an agent's own clock, stepped back; what comes in from outside.

Not controlled: what happens between two points is one step, so a race inside it is not seen; nor are
threads, processes, sockets and the machine's clock. Code that sleeps, starts a thread, opens a connection
or reads the machine's clock is refused, naming the place. A wait on a lock of `threading` that nobody will
give back hangs the run. Draws of the target's own (``uuid4``, an unseeded `random`) lead to another
history under the same choices; a sample of runs is made twice to notice that.

    choices, schedule         what can be chosen, and how it is written
    world, task, clock        one run: points, sections, crashes, time
    transport, strikes        the receiving side; what faults do
    driver, strategies        who chooses
    subjects, programs        what runs; `catalogue` has those worth running
    race, engine, seat        scenarios and playbooks on this engine
    run, explore, workers     one run, many runs, on many cores
    search, states, exhaust   every run within a bound
    shrink, story, again      a finding made small, told, and run again
    twins, pairs, fence       whether the search can find, and what must not escape it
"""
