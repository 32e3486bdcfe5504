using System.Collections.Immutable;
using Corfu.Protocol;
using Tango.Formatting;
using Tango.Records;

namespace Tango;

// R20: members that are added to groups. The record that adds one stands in the unit's stream too, where playback
// without the directory accepts it by its bytes alone. So all that can refuse it is asked before, by the record that
// reserves.
internal sealed partial class TangoDirectory
{
    // By name: reserved for groups, and not added. Invariant: no object has the name or the id; the group exists; its
    // members and these are at most MaxGroupMembers. One leaves when it is added, or when its group is deleted, both
    // by records in the unit's stream. So AddMember is accepted iff its unit lives and does not have the id.
    private ImmutableSortedDictionary<string, DirectoryEntry> _pending =
        ImmutableSortedDictionary.Create<string, DirectoryEntry>(StringComparer.Ordinal);

    /// <summary>Whether a call adds a member to a unit; told by its bytes alone, where the directory is not
    /// played.</summary>
    /// <param name="unit">Its first member.</param>
    /// <param name="member">Without its group and birth.</param>
    /// <exception cref="TangoFormatException">Its arguments cannot be read.</exception>
    public static bool IsAddition(scoped in CallRecord call, out ObjectId unit, out DirectoryEntry member)
    {
        (unit, member) = (default, null!);
        if (call.Object != ObjectId.Directory || call.Mutator != Mutators.AddMember) return false;
        var reader = new MessagePackReader(call.Arguments);
        (unit, member) = DirectoryFormat.ReadAddedMember(ref reader);
        return true;
    }

    private void ApplyToMembers(int mutator, ref MessagePackReader reader, in ApplyContext context)
    {
        if (mutator == Mutators.ReserveMember)
        {
            var (group, member) = DirectoryFormat.ReadReservedMember(ref reader);
            context.Return(ApplyReserveMember(group, member));
            return;
        }

        var (unit, added) = DirectoryFormat.ReadAddedMember(ref reader);
        context.Return(ApplyAddMember(unit, added, context.Position));
    }

    private DirectoryEntry ApplyReserveMember(string group, NewObject member)
    {
        if (!_groups.TryGetValue(group, out var members)) throw Reject($"There is no group '{group}'");
        if (_objects.GetValueOrDefault(member.Name) is { } known && known.Group != group)
            throw Reject($"'{member.Name}' exists and is not in a group '{group}'");
        if (_pending.GetValueOrDefault(member.Name) is { } reserved && reserved.Group != group)
            RequireNotPending(member.Name);
        if ((_objects.GetValueOrDefault(member.Name) ?? _pending.GetValueOrDefault(member.Name)) is { } existing)
            return RequireSame(existing, member);
        if (members.Length + _pending.Values.Count(pending => pending.Group == group) >= MaxGroupMembers)
            throw Reject($"A group has at most {MaxGroupMembers} members");
        RequireIds(1);
        var entry = new DirectoryEntry(
            new ObjectId(_nextId++), member.Name, member.TypeName, group, member.VersionCapacity);
        _pending = _pending.Add(entry.Name, entry);
        return entry;
    }

    private DirectoryEntry ApplyAddMember(ObjectId unit, DirectoryEntry member, LogPosition at)
    {
        if (!_claims.Units.ContainsKey(unit)) throw Reject($"{unit} is no unit, or is deleted already");
        if (_byId.TryGetValue(member.Id, out var known)) return known;
        if (_pending.GetValueOrDefault(member.Name) is not { } reserved || reserved.Id != member.Id
            || _groups[reserved.Group!][0].Id != unit)
            throw Reject($"{member.Id} was not reserved for '{member.Name}'");
        _pending = _pending.Remove(member.Name);
        var birth = new LogPosition(at.Offset);
        var added = reserved with { Created = birth, Birth = birth };
        // The claim is the unit's: no record of the member is below this one.
        Add(added);
        return added;
    }

    private bool IsPending(ObjectId id) => _pending.Values.Any(member => member.Id == id);

    private void RequireNotPending(string name)
    {
        if (_pending.TryGetValue(name, out var reserved))
            throw Reject($"'{name}' is being added to the group '{reserved.Group}'");
    }

    private void ForgetPendingOf(string group) =>
        _pending = _pending.RemoveRange(
            _pending.Values.Where(member => member.Group == group).Select(static member => member.Name));
}
