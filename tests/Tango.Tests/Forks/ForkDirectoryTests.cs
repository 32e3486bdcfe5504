using Corfu.Protocol;
using static Tango.TangoDirectory;

namespace Tango.Tests.Forks;

/// <summary>The directory's records about forks: an object begins with a checkpoint only if nothing of it can have been
/// trimmed.</summary>
public class ForkDirectoryTests
{
    private readonly TangoDirectory _directory = new();
    private long _at;

    [Fact]
    public void A_fork_claims_its_base()
    {
        Begin();
        Assert.Null(Reserve());
        Assert.Null(Apply(Mutators.Create, DirectoryFormat.Create(new(1, 10), null, [new("b", "type", 16)])));
        Assert.Equal("True", Create(257, "fork", start: 2));
        var entry = _directory.Entries.Single(static entry => entry.Name == "fork");
        Assert.Equal((new ObjectId(257), new ForkOrigin("a", At(1), At(2))), (entry.Id, entry.Origin));
        Assert.Equal(new UnitClaim(At(2), At(2)), _directory.Claims.Units[entry.Id]);
        Assert.Equal([entry], _directory.GroupOf(entry.Id));
        Assert.Equal(new ObjectId(258), _directory.Entries.Single(static entry => entry.Name == "b").Id);

        // A host's first checkpoint keeps the base, from which one that opens may start.
        Apply(Mutators.Checkpointed, ClaimFormat.Checkpointed(entry.Id, At(4), At(4)));
        Assert.Equal(new UnitClaim(At(2), At(4)), _directory.Claims.Units[entry.Id]);
    }

    [Fact]
    public void A_name_that_is_taken_is_refused()
    {
        Begin();
        Reserve();
        Assert.Equal("'a' exists", Create(257, "a", start: 2));
        Assert.Equal("True", Create(257, "fork", start: 2));
        Reserve();
        Assert.Equal("'fork' exists", Create(258, "fork", start: 5));
    }

    /// <summary>Before the directory names them, a trim may take the chunks.</summary>
    [Fact]
    public void One_whose_checkpoint_may_be_trimmed_is_not_created()
    {
        Begin();
        Reserve();
        for (var at = 3; at < 6; at++)
        {
            // Claims of the others rise.
            Apply(Mutators.Checkpointed, ClaimFormat.Checkpointed(ObjectId.Directory, At(at), At(at)));
            Apply(Mutators.Checkpointed, ClaimFormat.Checkpointed(new ObjectId(256), At(at), At(at)));
        }

        Apply(Mutators.Release, ClaimFormat.Release(At(100)));
        Assert.Equal(At(3), _directory.Claims.Released);
        Assert.Equal("False", Create(257, "fork", start: 2));
        Assert.True(_directory.IsDeletedBefore(new ObjectId(257), At(100)));
        Reserve();
        Assert.Equal("True", Create(258, "fork", start: _at));
    }

    [Fact]
    public void Only_an_id_that_was_reserved_there_and_is_unused_makes_a_fork()
    {
        Begin();
        Reserve();
        Assert.False(_directory.IsDeletedBefore(new ObjectId(257), At(100)));
        Assert.Equal("False", Create(256, "fork", start: 2));
        Assert.Equal("False", Create(258, "fork", start: 2));
        Assert.Equal("False", Create(257, "fork", start: 1));
        Assert.Contains("cannot begin", Create(257, "fork", start: 2, forget: 3));
        Assert.Equal("True", Create(257, "fork", start: 2, forget: 1));
        Assert.Equal(At(1), _directory.Claims.Units[new ObjectId(257)].Forget);
        Apply(Mutators.Delete, ClaimFormat.Delete(new ObjectId(257)));
        Assert.Equal("False", Create(257, "again", start: 2));
    }

    [Fact]
    public void The_oldest_of_too_many_reserved_ids_is_dropped()
    {
        Begin();
        for (var i = 0; i <= MaxReserved; i++) Reserve();
        Assert.Equal("False", Create(257, "first", start: 2));
        Assert.Equal("True", Create(258, "second", start: 3));
    }

    [Fact]
    public void A_deleted_fork_keeps_its_origin_for_those_who_still_need_it()
    {
        Begin();
        Reserve();
        Create(257, "fork", start: 2);
        Apply(Mutators.Delete, ClaimFormat.Delete(new ObjectId(257)));
        var loaded = new TangoDirectory();
        var state = new ArgumentBuffer();
        ((ITangoView)_directory).SaveState(state);
        ((ITangoView)loaded).LoadState(state.WrittenMemory);
        Assert.Equal(At(2), Assert.Single(loaded.GroupOf(new ObjectId(257))).Origin!.Base);
    }

    [Fact]
    public void The_bytes_of_its_records()
    {
        Assert.Equal<byte[]>([0x90], DirectoryFormat.ReserveId().WrittenSpan.ToArray());
        var entry = new DirectoryEntry(new ObjectId(257), "fork", "type", null, 16)
        {
            Origin = new ForkOrigin("a", At(1), At(3)),
        };
        Assert.Equal<byte[]>(
            [0x96, 0xcd, 1, 1, 0xa4, .. "fork"u8, 0xa4, .. "type"u8, 16, 0x93, 0xa1, .. "a"u8, 1, 3, 2],
            DirectoryFormat.CreateFork(entry, At(2)).WrittenSpan.ToArray());
    }

    private void Begin() => Apply(
        Mutators.Create, DirectoryFormat.Create(new(1, 1), null, [new("a", "type", 16)]));

    private string? Reserve() => Apply(Mutators.ReserveId, DirectoryFormat.ReserveId());

    private string? Create(ulong id, string name, long start, long? forget = null)
    {
        var entry = new DirectoryEntry(new ObjectId(id), name, "type", null, 16)
        {
            Origin = new ForkOrigin("a", At(1), At(start)),
        };
        return Apply(Mutators.CreateFork, DirectoryFormat.CreateFork(entry, At(forget ?? start)));
    }

    /// <returns>Why it was refused, or what a fork's creation returned.</returns>
    private string? Apply(int mutator, ArgumentBuffer arguments)
    {
        var created = new ApplyResult<bool>();
        try
        {
            ((ITangoView)_directory).Apply(mutator, default, arguments.WrittenMemory,
                new ApplyContext(
                    mutator == Mutators.CreateFork ? created : null, new LogPlace(At(++_at), 0, 0)));
            return mutator == Mutators.CreateFork ? $"{created.Value}" : null;
        }
        catch (TangoRejectedException e)
        {
            return e.Reason;
        }
    }

    private static LogPosition At(long offset) => new(offset);
}
