using System.Collections.Immutable;
using Corfu;
using Tango.Records;

namespace Tango;

// R20: members that are added to groups, and removed. The record that adds one stands in the cohort's stream too, where
// playback without the directory accepts it by its bytes alone. So all that can refuse it is asked before, by the
// record that reserves.
internal sealed partial class TangoDirectory
{
    /// <summary>In positions, from the record that reserves a member to the one that adds it. A part of the
    /// format.</summary>
    public const long MaxReservation = 65_536;

    // By name, names that are on their way to be objects: members that are reserved for groups, and forks whose first
    // checkpoint does not count yet. Invariant: no object has the name or the id. Of a member: the group exists; its
    // members and these are at most MaxGroupMembers. One leaves when it is added, or when its group is deleted, both
    // by records in the cohort's stream, or when it has expired, which positions alone tell. So AddMember is accepted
    // iff its cohort lives and does not have the id, and it stands near enough to the reservation. Of a fork:
    // Created >= what is released, so that nothing of it is trimmed.
    private ImmutableSortedDictionary<string, DirectoryEntry> _pending =
        ImmutableSortedDictionary.Create<string, DirectoryEntry>(StringComparer.Ordinal);

    /// <summary>Whether a call adds a member to a cohort; told by its bytes alone, where the directory is not
    /// played.</summary>
    /// <param name="cohort">First member of the cohort.</param>
    /// <param name="member">Without its group and birth; created where it was reserved.</param>
    /// <exception cref="TangoFormatException">The arguments of the call cannot be read.</exception>
    public static bool IsAddition(scoped in CallRecord call, out ObjectId cohort, out DirectoryEntry member)
    {
        (cohort, member) = (default, null!);
        if (call.Object != ObjectId.Directory || call.Mutator != Mutators.AddMember) return false;
        var reader = new MessagePackReader(call.Arguments);
        (cohort, member) = DirectoryFormat.ReadAddedMember(ref reader);
        return true;
    }

    /// <summary>R20: the addition stands so far above the reservation that it has no effect, for its caller was taken
    /// for gone, and the name is free. Positions alone tell, so that every host of the cohort knows it.</summary>
    /// <param name="at">Position of the addition, or of the record that asks for the name.</param>
    public static bool IsExpired(DirectoryEntry reserved, LogPosition at) => at - reserved.Created > MaxReservation;

    private void ApplyToMembers(int mutator, ref MessagePackReader reader, in ApplyContext context)
    {
        if (mutator == Mutators.ReserveMember)
        {
            var (group, member) = DirectoryFormat.ReadReservedMember(ref reader);
            context.Return(ApplyReserveMember(group, member, context.Position));
            return;
        }

        var (cohort, added) = DirectoryFormat.ReadAddedMember(ref reader);
        context.Return(ApplyAddMember(cohort, added, context.Position));
    }

    private DirectoryEntry ApplyReserveMember(string group, NewObject member, LogPosition at)
    {
        if (!_groups.TryGetValue(group, out var members)) throw Reject($"There is no group '{group}'");
        if (_objects.GetValueOrDefault(member.Name) is { } known && known.Group != group)
            throw Reject($"'{member.Name}' exists and is not in a group '{group}'");
        if (_pending.GetValueOrDefault(member.Name) is { } other && other.Group != group)
            RequireNotPending(member.Name, at);
        var reserved = _pending.Values.Where(pending => pending.Group == group && !IsExpired(pending, at))
            .ToList();
        if ((_objects.GetValueOrDefault(member.Name) ?? reserved.Find(pending => pending.Name == member.Name))
            is { } existing) return RequireSame(existing, member);
        if (members.Length + reserved.Count >= MaxGroupMembers)
            throw Reject($"A group has at most {MaxGroupMembers} members, with those that were deleted");
        RequireIds(1);
        var entry = new DirectoryEntry(
            new ObjectId(_nextId++), member.Name, member.TypeName, group, member.VersionCapacity)
        { Created = new LogPosition(at.Offset) };
        _pending = _pending.SetItem(entry.Name, entry);
        return entry;
    }

    private DirectoryEntry ApplyAddMember(ObjectId cohort, DirectoryEntry member, LogPosition at)
    {
        if (!_claims.Cohorts.ContainsKey(cohort)) throw Reject($"{cohort} is no cohort, or is deleted already");
        if (_byId.TryGetValue(member.Id, out var known)) return known;
        if (_pending.GetValueOrDefault(member.Name) is not { Group: { } group } reserved || reserved.Id != member.Id
            || reserved.Created != member.Created || _groups[group][0].Id != cohort)
            throw Reject($"{member.Id} was not reserved for '{member.Name}'");
        if (IsExpired(reserved, at))
            throw Reject($"'{member.Name}' was reserved at {reserved.Created.Offset}, too long ago. Try again");
        _pending = _pending.Remove(member.Name);
        var birth = new LogPosition(at.Offset);
        var added = reserved with { Created = birth, Birth = birth };
        // The claim is the cohort's: no record of the member is below this one.
        Add(added);
        return added;
    }

    /// <summary>The group keeps the member's entry: checkpoints and transactions from before the record have the
    /// member. The name is free.</summary>
    private void RemoveMember(DirectoryEntry member, LogPosition at)
    {
        var removed = member with { Removed = new LogPosition(at.Offset) };
        _objects = _objects.Remove(member.Name);
        _byId = _byId.SetItem(member.Id, removed);
        _groups = _groups.SetItem(member.Group!, _groups[member.Group!].Replace(member, removed));
    }

    private DirectoryEntry? PendingOf(ObjectId id) => _pending.Values.FirstOrDefault(pending => pending.Id == id);

    private void RequireNotPending(string name, LogPosition at)
    {
        if (!_pending.TryGetValue(name, out var pending)) return;
        if (pending.Origin is { } origin)
            throw Reject($"'{name}' is being forked from '{origin.Source}', since {pending.Created.Offset}");
        if (!IsExpired(pending, at))
            throw Reject($"'{name}' is being added to the group '{pending.Group}'");
    }

    /// <summary>Names whose callers are gone, as far as positions tell.</summary>
    private void ForgetPendingBelow(LogPosition released, LogPosition at) =>
        _pending = _pending.RemoveRange(_pending.Values
            .Where(pending => pending.Group is null ? pending.Created < released : IsExpired(pending, at))
            .Select(static pending => pending.Name));

    private void ForgetPendingOf(string group) =>
        _pending = _pending.RemoveRange(
            _pending.Values.Where(member => member.Group == group).Select(static member => member.Name));
}
