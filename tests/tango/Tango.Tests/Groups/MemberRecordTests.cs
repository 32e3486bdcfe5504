using Corfu;
using static Tango.TangoDirectory;

namespace Tango.Tests.Groups;

/// <summary>The directory's records about new members, and its state with them.</summary>
public class MemberRecordTests
{
    private readonly TangoDirectory _directory = new();
    private long _at;

    [Fact]
    public void An_id_is_reserved_once_and_added_once()
    {
        Begin();
        var reserved = Reserve("group", "c");
        Assert.Equal(
            (new ObjectId(258), At(2), (LogPosition?)null), (reserved.Id, reserved.Created, reserved.Birth));
        Assert.Equal(reserved, Reserve("group", "c"));
        Assert.Equal(2, _directory.GroupOf(new ObjectId(256)).Count);
        Assert.False(_directory.IsDeletedBefore(reserved.Id, At(100)));
        var added = reserved with { Created = At(4), Birth = At(4) };
        Assert.Equal(added, Add(256, reserved));
        Assert.Equal(added, Add(256, reserved));
        Assert.Equal(added, Reserve("group", "c"));
        Assert.Equal(["a", "b", "c"], _directory.GroupOf(reserved.Id).Select(static entry => entry.Name));
    }

    [Fact]
    public void Impossible_member_is_not_reserved()
    {
        Begin();
        Apply(Mutators.Create, DirectoryFormat.Create(new(1, 10), null, [new("alone", "type", 16)]));
        Refused("There is no group 'none'", () => Reserve("none", "c"));
        Refused("'alone' exists and is not in a group 'group'", () => Reserve("group", "alone"));
        Refused("'a' is of type type, not other", () => Reserve("group", "a", "other"));
        var reserved = Reserve("group", "c");
        Refused("'c' is of type type, not other", () => Reserve("group", "c", "other"));
        Refused("'c' is being added to the group 'group'",
            () => Apply(Mutators.Create, DirectoryFormat.Create(new(1, 10), null, [new("c", "type", 16)])));
        Refused("#260 was not reserved for 'c'", () => Add(256, reserved with { Id = new ObjectId(260) }));
        Refused("#259 was not reserved for 'd'",
            () => Add(256, reserved with { Id = new ObjectId(259), Name = "d" }));
    }

    [Fact]
    public void Group_has_at_most_the_maximum_of_members_counting_deleted_members()
    {
        Begin();
        // Removed members count.
        Apply(Mutators.Delete, ClaimFormat.Delete(new ObjectId(257)));
        for (var i = 2; i < MaxGroupMembers; i++) Reserve("group", $"more {i}");
        Refused($"A group has at most {MaxGroupMembers} members, with those that were deleted",
            () => Reserve("group", "too many"));
    }

    [Fact]
    public void Directory_frees_the_name_of_a_removed_member_and_keeps_the_entry()
    {
        Begin();
        var added = Add(256, Reserve("group", "c"));
        Apply(Mutators.Delete, ClaimFormat.Delete(added.Id));
        var at = At(_at);
        Assert.Null(_directory.Find("c"));
        Assert.Equal(["a", "b"], _directory.Entries.Select(static entry => entry.Name));
        Assert.Equal(added with { Removed = at }, _directory.GroupOf(added.Id)[2]);
        Assert.Equal((false, true), (_directory.IsDeletedBefore(added.Id, at),
            _directory.IsDeletedBefore(added.Id, at.Next)));

        Refused("#258 is no object, or is deleted already",
            () => Apply(Mutators.Delete, ClaimFormat.Delete(added.Id)));
        Refused("#258 is no object, or is deleted already",
            () => Apply(Mutators.Rename, DirectoryFormat.Rename(added.Id, "c", "d")));
        // A caller that added it too has not heard of the removal.
        Assert.Equal(added with { Removed = at }, Add(256, added));
        var again = Reserve("group", "c", "other");
        Assert.Equal(new ObjectId(259), again.Id);
        Assert.Equal(["a", "b", "c", "c"], Add(256, again) is { } other
            ? _directory.GroupOf(other.Id).Select(static entry => entry.Name)
            : []);
    }

    [Fact]
    public void A_group_that_is_deleted_leaves_the_objects_that_have_names_of_removed_members()
    {
        Begin();
        Apply(Mutators.Delete, ClaimFormat.Delete(new ObjectId(257)));
        Apply(Mutators.Create, DirectoryFormat.Create(new(1, 10), null, [new("b", "type", 16)]));
        // The group is there as it was named, but for the removed member.
        Apply(Mutators.Create, DirectoryFormat.Create(new(1, 10), "group", [new("a", "type", 16)]));
        Apply(Mutators.Delete, ClaimFormat.Delete(new ObjectId(256)));
        Assert.Equal(new ObjectId(258), Assert.Single(_directory.Entries).Id);
        Assert.Equal(2, _directory.GroupOf(new ObjectId(257)).Count);
    }

    [Fact]
    public void Reserved_member_is_dropped_with_the_group()
    {
        Begin();
        var reserved = Reserve("group", "c");
        Apply(Mutators.Delete, ClaimFormat.Delete(new ObjectId(256)));
        Refused("#256 is no cohort, or is deleted already", () => Add(256, reserved));
        Assert.True(_directory.IsDeletedBefore(reserved.Id, At(100)));
        Apply(Mutators.Create, DirectoryFormat.Create(new(1, 10), "group", [new("c", "type", 16)]));
        Refused("#258 was not reserved for 'c'", () => Add(259, reserved));
    }

    /// <summary>The program that reserved it is gone, or had misspelt it. Positions alone tell, so that hosts of the
    /// group know it without the directory.</summary>
    [Fact]
    public void A_reserved_name_is_free_again_far_enough_behind()
    {
        Begin();
        var reserved = Reserve("group", "c");
        _at = reserved.Created.Offset + MaxReservation - 1;
        Assert.Equal(reserved, Reserve("group", "c"));
        Refused("'c' was reserved at 2, too long ago. Try again", () => Add(256, reserved));
        Refused("'c' is of type type, not other", () =>
        {
            _at = reserved.Created.Offset + MaxReservation - 1;
            return Reserve("group", "c", "other");
        });
        Assert.Equal((new ObjectId(259), "other"), Of(Reserve("group", "c", "other")));
        Refused("#258 was not reserved for 'c'", () => Add(256, reserved));

        _at += 2 * MaxReservation;
        Apply(Mutators.Create, DirectoryFormat.Create(new(1, 10), null, [new("c", "type", 16)]));
        Refused("'c' exists and is not in a group 'group'", () => Reserve("group", "c"));

        static (ObjectId, string) Of(DirectoryEntry entry) => (entry.Id, entry.TypeName);
    }

    [Fact]
    public void Release_drops_expired_reservations()
    {
        Begin();
        Reserve("group", "c");
        _at += 2 * MaxReservation;
        Apply(Mutators.Release, ClaimFormat.Release(At(0)));
        var state = new ArgumentBuffer();
        ((ITangoView)_directory).SaveState(state);
        Assert.False(state.WrittenSpan.IndexOf(new byte[] { 0xa1, (byte)'c' }) >= 0);
        Assert.True(_directory.IsDeletedBefore(new ObjectId(258), At(1_000_000)));
    }

    [Fact]
    public void The_state_has_births_and_reserved_members()
    {
        Begin();
        Reserve("group", "pending");
        var second = Reserve("group", "second");
        var added = Add(256, Reserve("group", "added"));
        Add(256, second);
        var removed = Add(256, Reserve("group", "removed")).Id;
        Apply(Mutators.Delete, ClaimFormat.Delete(removed));
        Apply(Mutators.Create, DirectoryFormat.Create(new(1, 10), null, [new("removed", "type", 16)]));
        var state = new ArgumentBuffer();
        ((ITangoView)_directory).SaveState(state);
        var loaded = new TangoDirectory();
        ((ITangoView)loaded).LoadState(state.WrittenMemory);
        var again = new ArgumentBuffer();
        ((ITangoView)loaded).SaveState(again);
        Assert.Equal(state.WrittenSpan.ToArray(), again.WrittenSpan.ToArray());
        Assert.Equal(_directory.GroupOf(new ObjectId(256)), loaded.GroupOf(new ObjectId(256)));
        Assert.Equal(added, loaded.GroupOf(new ObjectId(256))[3]);
        Assert.False(loaded.IsDeletedBefore(new ObjectId(258), At(100)));
        Assert.True(loaded.IsDeletedBefore(removed, At(100)));
        Assert.Equal(new ObjectId(removed.Value + 1), loaded.Find("removed")!.Id);
        // The deleted cohort's entries have them too.
        Apply(Mutators.Delete, ClaimFormat.Delete(new ObjectId(256)));
        Assert.Equal(added, _directory.GroupOf(added.Id)[3]);
    }

    [Fact]
    public void Member_records_have_the_golden_bytes()
    {
        Assert.Equal<byte[]>([0x94, 0xa1, .. "g"u8, 0xa1, .. "c"u8, 0xa4, .. "type"u8, 16],
            DirectoryFormat.ReserveMember("g", new NewObject("c", "type", 16)).WrittenSpan.ToArray());
        var reserved = new DirectoryEntry(new ObjectId(258), "c", "type", "g", 16) { Created = At(9) };
        Assert.Equal<byte[]>([0x96, 0xcd, 1, 0, 0xcd, 1, 2, 0xa1, .. "c"u8, 0xa4, .. "type"u8, 16, 9],
            DirectoryFormat.AddMember(new ObjectId(256), reserved).WrittenSpan.ToArray());
    }

    private void Begin() => Apply(
        Mutators.Create,
        DirectoryFormat.Create(new(1, 10), "group", [new("a", "type", 16), new("b", "type", 16)]));

    private DirectoryEntry Reserve(string group, string name, string type = "type") =>
        Apply(Mutators.ReserveMember, DirectoryFormat.ReserveMember(group, new NewObject(name, type, 16)))!;

    private DirectoryEntry Add(ulong cohort, DirectoryEntry reserved) =>
        Apply(Mutators.AddMember, DirectoryFormat.AddMember(new ObjectId(cohort), reserved))!;

    private DirectoryEntry? Apply(int mutator, ArgumentBuffer arguments)
    {
        var isMember = mutator is Mutators.ReserveMember or Mutators.AddMember;
        var result = new ApplyResult<DirectoryEntry>();
        ((ITangoView)_directory).Apply(mutator, default, arguments.WrittenMemory,
            new ApplyContext(isMember ? result : null, new LogPlace(At(++_at), 0, 0)));
        return isMember ? result.Value : null;
    }

    private static void Refused(string why, Func<object?> act) =>
        Assert.Equal(why, Assert.Throws<TangoRejectedException>(act).Reason);

    private static LogPosition At(long offset) => new(offset);
}
