using System.Collections.Immutable;
using Corfu;

namespace Tango;

// Objects that begin with a checkpoint. The record that creates one names its stream and its base, where it stands
// itself; until a checkpoint of that end counts, the object is pending and nothing opens it. So no record of it is
// below the one that makes its checkpoint count.
//
// What can come between, and what it leaves:
// - The caller stops, before or after it has written the checkpoint. The name stays taken until it is forked to again,
//   or until the log is released beyond the base, which the record's hold forbids for the time of its lease.
// - Another caller forks to the name. It replaces the pending one, whose checkpoint is then refused. Of the two, at
//   most one object comes into being.
// - A trim. The hold keeps everything from the base on: all chunks stand above it. With the lease over, a release
//   beyond the base drops the pending one, and its checkpoint is refused.
// - The source is deleted or renamed, or its group grows. The state was taken before.
// - The name is asked for by a creation, a renaming or a new member. It is refused, as for a name that exists.
internal sealed partial class TangoDirectory
{
    /// <summary>The hold of a pending fork: one for a name, so that the next attempt takes it over.</summary>
    public static string HoldOf(string fork) => $"fork/{fork}";

    private DirectoryEntry ApplyCreateFork(NewObject fork, ForkOrigin origin, TimeSpan lease, LogPosition at)
    {
        if (_objects.ContainsKey(fork.Name)) throw Reject($"'{fork.Name}' exists");
        if (_pending.GetValueOrDefault(fork.Name) is { Group: not null }) RequireNotPending(fork.Name, at);
        if (origin.Position > at) throw Reject($"Nothing at {origin.Position.Offset} is known at {at.Offset}");
        RequireIds(1);
        var start = new LogPosition(at.Offset);
        (_claims, _) = _claims.Hold(HoldOf(fork.Name), start, lease);
        var entry = new DirectoryEntry(new ObjectId(_nextId++), fork.Name, fork.TypeName, null, fork.VersionCapacity)
        {
            Created = start,
            Origin = origin,
        };
        _pending = _pending.SetItem(entry.Name, entry);
        return entry;
    }

    /// <summary>A checkpoint of the cohort counts. The first one of a fork makes it an object.</summary>
    private CohortClaim ApplyCheckpointed(
        ObjectId cohort, LogPosition end, LogPosition forget, LogPosition? lowest, LogPosition at)
    {
        var fork = _claims.Cohorts.ContainsKey(cohort) ? null : PendingOf(cohort);
        if (fork is not { Origin: not null })
        {
            _claims = _claims.Checkpointed(cohort, end, forget, _maxSpan, at, lowest);
            return _claims.Cohorts[cohort];
        }

        if (end != fork.Created || forget != end || lowest is not null)
            throw Reject($"'{fork.Name}' begins with a checkpoint of {fork.Created.Offset}, not {end.Offset}");
        _pending = _pending.Remove(fork.Name);
        _claims = _claims.CreateFork(cohort, fork.Created, HoldOf(fork.Name));
        Add(fork);
        return _claims.Cohorts[cohort];
    }

    /// <exception cref="TangoRejectedException">There are not so many.</exception>
    private void RequireIds(int count)
    {
        if ((ulong)count > ObjectId.EndOfUser - _nextId)
            throw Reject($"No more ids: those from {ObjectId.EndOfUser} on are streams of checkpoints");
    }
}
