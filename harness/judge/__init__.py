"""From a log of somebody else's system to a verdict: read, map, shard, build, judge, trace."""
