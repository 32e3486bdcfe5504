using System.Collections.Immutable;
using Corfu.Protocol;
using Tango.Formatting;

namespace Tango;

// Objects that begin with a checkpoint. An id is given first, since the checkpoint's stream is named after it; the
// object is created when the checkpoint was read back from the log.
internal sealed partial class TangoDirectory
{
    /// <summary>Ids whose forks are on their way; beyond it the oldest one is dropped, and its fork starts again. A
    /// part of the format.</summary>
    public const int MaxReserved = 1024;

    // Where each was reserved. Invariant: none is in _byId, and none was reserved below what is released. So a claim
    // from there on holds everything that is written for the object afterwards.
    private ImmutableSortedDictionary<ObjectId, LogPosition> _reserved =
        ImmutableSortedDictionary<ObjectId, LogPosition>.Empty;

    private void ApplyToForks(int mutator, ref MessagePackReader reader, in ApplyContext context)
    {
        if (mutator == Mutators.ReserveId)
        {
            reader.ReadArrayHeader(0);
            context.Return(ApplyReserveId(context.Position));
            return;
        }

        var (entry, forget) = DirectoryFormat.ReadFork(ref reader);
        context.Return(ApplyCreateFork(entry with { Created = new LogPosition(context.Position.Offset) }, forget));
    }

    private ReservedId ApplyReserveId(LogPosition at)
    {
        RequireIds(1);
        var id = new ObjectId(_nextId++);
        _reserved = _reserved.Add(id, at);
        // Ids rise, so that the first is the oldest.
        if (_reserved.Count > MaxReserved) _reserved = _reserved.Remove(_reserved.First().Key);
        return new ReservedId(id, at);
    }

    private bool ApplyCreateFork(DirectoryEntry entry, LogPosition forget)
    {
        var start = entry.Origin!.Base;
        if (_objects.ContainsKey(entry.Name)) throw Reject($"'{entry.Name}' exists");
        RequireNotPending(entry.Name);
        if (forget > start || entry.Origin.Position > start)
            throw Reject($"A fork from {start.Offset} on cannot begin with what is above, nor forget it");
        // While no claim named its chunks, a trim may have taken them.
        if (!_reserved.TryGetValue(entry.Id, out var reserved) || reserved != start || forget < _claims.Released)
            return false;
        _reserved = _reserved.Remove(entry.Id);
        _claims = _claims.CreateFork(entry.Id, start, forget);
        Add(entry);
        return true;
    }

    private void ForgetReservedBelow(LogPosition released)
    {
        foreach (var (id, at) in _reserved)
        {
            if (at < released) _reserved = _reserved.Remove(id);
        }
    }

    /// <exception cref="TangoRejectedException">There are not so many.</exception>
    private void RequireIds(int count)
    {
        if ((ulong)count > ObjectId.EndOfUser - _nextId)
            throw Reject($"No more ids: those from {ObjectId.EndOfUser} on are streams of checkpoints");
    }
}

/// <summary>An id that no object has yet.</summary>
/// <param name="At">The position of the record that gave it.</param>
internal readonly record struct ReservedId(ObjectId Id, LogPosition At);
