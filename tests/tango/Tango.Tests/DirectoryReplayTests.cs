using System.Collections.Immutable;
using Corfu;
using static Tango.TangoDirectory;

namespace Tango.Tests;

/// <summary>The directory's records as playback applies them: equal states everywhere, also from a state saved on the
/// way.</summary>
public class DirectoryReplayTests
{
    [Fact]
    public void The_same_records_make_the_same_state_also_from_a_saved_one()
    {
        for (var seed = 0; seed < 150; seed++)
        {
            var random = new Random(seed);
            ITangoView played = new TangoDirectory();
            ITangoView loaded = new TangoDirectory();
            Apply(played, Mutators.Create, DirectoryFormat.Create(new(1, 10), null, [New("first")]), 0);
            loaded.LoadState(Saved(played));
            for (var at = 1L; at < 120; at++)
            {
                var (mutator, arguments) = AnyRecord((TangoDirectory)played, random, at);
                Assert.Equal(Apply(played, mutator, arguments, at), Apply(loaded, mutator, arguments, at));
                if (random.Next(5) > 0) continue;
                Assert.Equal(Saved(played), Saved(loaded));
                loaded = new TangoDirectory();
                loaded.LoadState(Saved(played));
            }

            Assert.Equal(Saved(played), Saved(loaded));
        }
    }

    [Fact]
    public void Cohort_claims_history_from_the_creating_record_and_the_directory_from_the_beginning()
    {
        ITangoView directory = new TangoDirectory();
        Apply(directory, Mutators.RaiseLevel, DirectoryFormat.RaiseLevel(1), 3);
        Apply(directory, Mutators.Create, DirectoryFormat.Create(new(1, 10), "group", [New("a"), New("b")]), 7);
        Apply(directory, Mutators.Create, DirectoryFormat.Create(new(1, 10), null, [New("c")]), 9);
        var claims = ((TangoDirectory)directory).Claims;
        Assert.Equal(
            [(1, 0), (256, 7), (258, 9)],
            claims.Cohorts.Select(cohort => ((int)cohort.Key.Value, (int)cohort.Value.Forget.Offset)));
    }

    /// <summary>Found by the fuzzer: such a record released the beginning that the directory still needs.</summary>
    [Fact]
    public void Release_as_first_record_keeps_the_beginning_for_the_directory()
    {
        ITangoView directory = new TangoDirectory();
        Apply(directory, Mutators.Release, ClaimFormat.Release(new LogPosition(5)), 7);
        var claims = ((TangoDirectory)directory).Claims;
        Assert.Equal(LogPosition.Zero, claims.Released);
        Assert.Equal(LogPosition.Zero, claims.Lowest);
    }

    [Fact]
    public void Refused_first_record_leaves_the_directory_without_a_claim()
    {
        ITangoView directory = new TangoDirectory();
        Assert.NotEqual("", Apply(directory, Mutators.Delete, ClaimFormat.Delete(new ObjectId(300)), 3));
        Assert.Empty(((TangoDirectory)directory).Claims.Cohorts);
    }

    [Fact]
    public void Ids_and_histories_of_deleted_cohorts_do_not_return()
    {
        ITangoView view = new TangoDirectory();
        var directory = (TangoDirectory)view;
        Apply(view, Mutators.Create, DirectoryFormat.Create(new(1, 10), "g", [New("a"), New("b")]), 1);
        Assert.Equal("refused", Apply(view, Mutators.Delete, ClaimFormat.Delete(new ObjectId(258)), 2));
        Assert.Equal("refused", Apply(view, Mutators.Delete, ClaimFormat.Delete(ObjectId.Directory), 2));
        Assert.Equal("", Apply(view, Mutators.Delete, ClaimFormat.Delete(new ObjectId(256)), 3));
        Assert.Equal("refused", Apply(view, Mutators.Delete, ClaimFormat.Delete(new ObjectId(256)), 4));
        Assert.Equal(2, directory.GroupOf(new ObjectId(257)).Count);
        Assert.False(directory.IsDeletedBefore(new ObjectId(257), new LogPosition(3)));
        Assert.True(directory.IsDeletedBefore(new ObjectId(257), new LogPosition(4)));

        Apply(view, Mutators.Create, DirectoryFormat.Create(new(1, 10), "g", [New("a"), New("b")]), 5);
        Assert.Equal(["a", "b"], directory.GroupOf(new ObjectId(259)).Select(entry => entry.Name));
        Assert.False(directory.IsDeletedBefore(new ObjectId(259), new LogPosition(9)));
        Assert.False(directory.IsDeletedBefore(new ObjectId(260), new LogPosition(9)));
    }

    private static (int Mutator, ArgumentBuffer Arguments) AnyRecord(TangoDirectory directory, Random random, long at)
    {
        var cohorts = directory.Claims.Cohorts.Keys.ToList();
        var cohort = cohorts[random.Next(cohorts.Count)];
        LogPosition Any() => new(random.NextInt64(at + 2));
        var stream = new StreamId(StreamId.FirstRawValue + (ulong)random.Next(2));
        return random.Next(16) switch
        {
            0 => (Mutators.Create, DirectoryFormat.Create(new(1, 10), null, [New($"n{random.Next(40)}")])),
            1 => (Mutators.Create,
                DirectoryFormat.Create(new(1, 10), $"g{at}", [New($"m{at}"), New($"n{random.Next(40)}")])),
            2 or 3 => (Mutators.Checkpointed, ClaimFormat.Checkpointed(cohort, Any(), Any())),
            4 => (Mutators.Hold,
                ClaimFormat.Hold($"r{random.Next(2)}", Any(), TimeSpan.FromMilliseconds(random.Next(9)))),
            5 => (Mutators.Expire, ClaimFormat.Expire($"r{random.Next(2)}", random.Next(9))),
            6 => (Mutators.Retain,
                ClaimFormat.Retain(new Retention(random.Next(2) == 0 ? null : 5, TimeSpan.FromSeconds(at)))),
            7 => (Mutators.Declare, ClaimFormat.Declare(stream, new StreamClaim("s", Any()))),
            12 => (Mutators.Checkpointed, ClaimFormat.Checkpointed(cohort, Any(), Any(), Any())),
            8 => (Mutators.Delete, ClaimFormat.Delete(cohort)),
            // Perhaps a group's second member.
            13 => (Mutators.Delete, ClaimFormat.Delete(new ObjectId(cohort.Value + 1))),
            9 => (Mutators.Checkpointed, FirstOfFork(directory, random)),
            10 or 11 => (Mutators.CreateFork, DirectoryFormat.CreateFork(
                New($"n{random.Next(40)}"), new ForkOrigin("n1", Any()), TimeSpan.FromSeconds(1))),
            _ => (Mutators.Release, ClaimFormat.Release(Any())),
        };
    }

    // The hold tells where a pending one begins.
    private static ArgumentBuffer FirstOfFork(TangoDirectory directory, Random random)
    {
        var start = directory.Claims.Holds.Values.LastOrDefault().Position;
        return ClaimFormat.Checkpointed(new ObjectId(256 + (ulong)random.Next(60)), start, start);
    }

    private static string Apply(ITangoView view, int mutator, ArgumentBuffer arguments, long at)
    {
        try
        {
            view.Apply(mutator, default, arguments.WrittenMemory,
                new ApplyContext(null, new LogPlace(new LogPosition(at), 0, 0)));
            return "";
        }
        catch (TangoRejectedException)
        {
            return "refused";
        }
    }

    private static byte[] Saved(ITangoView view)
    {
        var state = new ArgumentBuffer();
        view.SaveState(state);
        return state.WrittenSpan.ToArray();
    }

    private static NewObject New(string name) => new(name, "type", 16);
}
