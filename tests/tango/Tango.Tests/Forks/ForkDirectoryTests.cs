using Corfu;
using static Tango.TangoDirectory;

namespace Tango.Tests.Forks;

/// <summary>The directory's records about forks: an object begins with a checkpoint, and is there once that
/// counts.</summary>
public class ForkDirectoryTests
{
    private static readonly TimeSpan s_lease = TimeSpan.FromSeconds(5);

    private readonly TangoDirectory _directory = new();
    private long _at;

    [Fact]
    public void Fork_holds_the_base_and_exists_once_the_first_checkpoint_counts()
    {
        Begin();
        var fork = Create("fork")!;
        Assert.Equal((new ObjectId(257), At(2), new ForkOrigin("a", At(1))), (fork.Id, fork.Created, fork.Origin));
        Assert.Equal("a", Assert.Single(_directory.Entries).Name);
        Assert.Empty(_directory.GroupOf(fork.Id));
        Assert.False(_directory.IsDeletedBefore(fork.Id, At(100)));
        Assert.Equal(new HoldClaim(At(2), 1, s_lease), _directory.Claims.Holds["fork/fork"]);

        Apply(Mutators.Create, DirectoryFormat.Create(new(1, 10), null, [new("b", "type", 16)]));
        Assert.Contains("begins with a checkpoint of 2", Refused(() => Checkpointed(fork.Id, 3)));
        Assert.Contains("begins with a checkpoint of 2", Refused(() => Checkpointed(fork.Id, 2, forget: 1)));
        Checkpointed(fork.Id, 2);
        Assert.Equal([fork], _directory.GroupOf(fork.Id));
        Assert.Equal(new CohortClaim(At(2), At(2)), _directory.Claims.Cohorts[fork.Id]);
        Assert.Empty(_directory.Claims.Holds);

        // Once more, as after a lost answer; then a host's first one keeps the base, from which an opener may start.
        Checkpointed(fork.Id, 2);
        Checkpointed(fork.Id, 4);
        Assert.Equal(new CohortClaim(At(2), At(4)), _directory.Claims.Cohorts[fork.Id]);
    }

    [Fact]
    public void A_name_that_is_taken_is_refused()
    {
        Begin();
        Assert.Equal("'a' exists", Refused(() => Create("a")));
        Apply(Mutators.Create, DirectoryFormat.Create(new(1, 10), "group", [new("m", "type", 16)]));
        Apply(Mutators.ReserveMember, DirectoryFormat.ReserveMember("group", new NewObject("late", "type", 16)));
        Assert.Contains("is being added to the group", Refused(() => Create("late")));
        Create("fork");
        foreach (var (mutator, arguments) in new[]
        {
            (Mutators.Create, DirectoryFormat.Create(new(1, 10), null, [new("fork", "type", 16)])),
            (Mutators.Rename, DirectoryFormat.Rename(new ObjectId(256), "a", "fork")),
            (Mutators.ReserveMember, DirectoryFormat.ReserveMember("group", new NewObject("fork", "type", 16))),
        })
        {
            Assert.Contains("is being forked from 'a'", Refused(() => Apply(mutator, arguments)));
        }
    }

    [Fact]
    public void Of_two_to_one_name_the_later_one_comes_into_being()
    {
        Begin();
        var first = Create("fork")!;
        var second = Create("fork")!;
        Assert.Equal(At(3), Assert.Single(_directory.Claims.Holds).Value.Position);
        Assert.True(_directory.IsDeletedBefore(first.Id, At(100)));
        Assert.Contains("not the first member", Refused(() => Checkpointed(first.Id, 2)));
        Checkpointed(second.Id, 3);
        Assert.Contains("exists", Refused(() => Create("fork")));
        Apply(Mutators.Delete, ClaimFormat.Delete(second.Id));
        Assert.Contains("not the first member", Refused(() => Checkpointed(second.Id, 3)));
        Assert.NotNull(Create("fork"));
    }

    /// <summary>The hold is over, and what was written for it may be trimmed.</summary>
    [Fact]
    public void Release_beyond_the_base_of_a_pending_fork_drops_the_fork()
    {
        Begin();
        var fork = Create("fork")!;
        for (var at = 3; at < 6; at++)
        {
            // Claims of the others rise.
            Checkpointed(ObjectId.Directory, at);
            Checkpointed(new ObjectId(256), at);
        }

        Apply(Mutators.Release, ClaimFormat.Release(At(100)));
        Assert.Equal(At(2), _directory.Claims.Released);
        Assert.Contains("is being forked", Refused(() => Apply(
            Mutators.Create, DirectoryFormat.Create(new(1, 10), null, [new("fork", "type", 16)]))));

        Apply(Mutators.Expire, ClaimFormat.Expire("fork/fork", 1));
        Apply(Mutators.Release, ClaimFormat.Release(At(100)));
        Assert.Equal(At(3), _directory.Claims.Released);
        Assert.True(_directory.IsDeletedBefore(fork.Id, At(100)));
        Assert.Contains("not the first member", Refused(() => Checkpointed(fork.Id, 2)));
        Apply(Mutators.Create, DirectoryFormat.Create(new(1, 10), null, [new("fork", "type", 16)]));
    }

    [Fact]
    public void Directory_state_has_pending_forks_and_origins_of_forks()
    {
        Begin();
        var pending = Create("pending")!;
        var fork = Create("fork")!;
        Checkpointed(fork.Id, fork.Created.Offset);
        Apply(Mutators.Delete, ClaimFormat.Delete(fork.Id));
        var loaded = new TangoDirectory();
        var state = new ArgumentBuffer();
        ((ITangoView)_directory).SaveState(state);
        ((ITangoView)loaded).LoadState(state.WrittenMemory);
        Assert.Equal(fork, Assert.Single(loaded.GroupOf(fork.Id)));
        Assert.False(loaded.IsDeletedBefore(pending.Id, At(100)));
        var again = new ArgumentBuffer();
        ((ITangoView)loaded).SaveState(again);
        Assert.Equal(state.WrittenSpan.ToArray(), again.WrittenSpan.ToArray());
    }

    [Fact]
    public void Fork_record_has_the_golden_bytes() => Assert.Equal<byte[]>(
        [0x95, 0xa4, .. "fork"u8, 0xa4, .. "type"u8, 16, 0x92, 0xa1, .. "a"u8, 1, 0xcd, 0x13, 0x88],
        DirectoryFormat.CreateFork(new NewObject("fork", "type", 16), new ForkOrigin("a", At(1)), s_lease)
            .WrittenSpan.ToArray());

    private void Begin() => Apply(
        Mutators.Create, DirectoryFormat.Create(new(1, 1), null, [new("a", "type", 16)]));

    private DirectoryEntry? Create(string name) => Apply(
        Mutators.CreateFork,
        DirectoryFormat.CreateFork(new NewObject(name, "type", 16), new ForkOrigin("a", At(1)), s_lease));

    private void Checkpointed(ObjectId cohort, long end, long? forget = null) =>
        Apply(Mutators.Checkpointed, ClaimFormat.Checkpointed(cohort, At(end), At(forget ?? end)));

    /// <returns>The fork that was created.</returns>
    private DirectoryEntry? Apply(int mutator, ArgumentBuffer arguments)
    {
        var created = new ApplyResult<DirectoryEntry>();
        ((ITangoView)_directory).Apply(mutator, default, arguments.WrittenMemory,
            new ApplyContext(mutator == Mutators.CreateFork ? created : null, new LogPlace(At(++_at), 0, 0)));
        return created.Value;
    }

    private static string Refused(Action act) => Assert.Throws<TangoRejectedException>(act).Reason;

    private static LogPosition At(long offset) => new(offset);
}
