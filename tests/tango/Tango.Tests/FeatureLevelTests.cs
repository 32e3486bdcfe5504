using Corfu;
using Tango.Formatting;

namespace Tango.Tests;

/// <summary>R23: what older code cannot read is written only at a level that an operator has raised. Level 4 stands
/// for the next one that is added.</summary>
public class FeatureLevelTests
{
    private const int TooNew = FeatureLevel.Newest + 97;

    private const int Next = FeatureLevel.Newest + 1;

    private static readonly TangoOptions s_next = new() { NewestLevel = Next };

    [Fact]
    public async Task New_log_has_the_level_of_the_runtime_that_creates_the_first_object()
    {
        await using var world = new World();
        var (runtime, _) = await world.OpenAccountsAsync();
        Assert.Equal(FeatureLevel.Newest, await runtime.Log.ReadLevelAsync());

        await using var newer = new World();
        var next = newer.NewRuntime(s_next);
        await next.OpenAsync<Accounts>("accounts", OpenMode.Create);
        Assert.Equal(Next, await next.Log.ReadLevelAsync());
        await next.Log.RequireLevelAsync(Next, "A novelty", default);
    }

    [Fact]
    public async Task Older_log_keeps_the_level_until_raised_and_the_refusal_says_how()
    {
        await using var world = new World();
        var (_, accounts) = await world.OpenAccountsAsync();
        var (next, other) = (world.NewRuntime(s_next), world.NewRuntime(s_next));
        await next.OpenAsync<Accounts>("second", OpenMode.Create);
        Assert.Equal(FeatureLevel.Newest, await next.Log.ReadLevelAsync());
        var tail = await world.TailAsync();
        var refused = await Assert.ThrowsAsync<TangoLevelException>(
            async () => await next.Log.RequireLevelAsync(Next, "A novelty", default));
        Assert.Equal(
            "A novelty needs feature level 4, and this log has level 3. Once every client of the log runs code that "
            + "knows level 4: corfu tango level raise 4",
            refused.Message);
        Assert.Equal((3, 4, 4), (refused.LogLevel, refused.NeededLevel, refused.CodeLevel));
        Assert.Equal(tail, await world.TailAsync());

        await other.SyncAsync();
        Assert.Equal(Next, await next.Log.RaiseLevelAsync(Next));
        // The other runtime has not played the record yet, and looks it up.
        await other.Log.RequireLevelAsync(Next, "A novelty", default);
        // Nothing of the new level is written so far.
        await accounts.SetAsync("x", 1);
        Assert.Equal(1, await accounts.BalanceAsync("x"));
    }

    [Fact]
    public async Task Raise_to_a_level_already_reached_appends_no_entry()
    {
        await using var world = new World();
        var (runtime, _) = await world.OpenAccountsAsync();
        var tail = await world.TailAsync();
        Assert.Equal(FeatureLevel.Newest, await runtime.Log.RaiseLevelAsync(FeatureLevel.First));
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(
            async () => await runtime.Log.RaiseLevelAsync(FeatureLevel.Newest + 1));
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(async () => await runtime.Log.RaiseLevelAsync(0));
        Assert.Equal(tail, await world.TailAsync());
    }

    [Fact]
    public async Task Code_that_meets_a_newer_level_opens_no_object_and_names_both_levels()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("x", 1);
        await RawRecords.AppendToDirectoryAsync(
            world, TangoDirectory.Mutators.RaiseLevel, DirectoryFormat.RaiseLevel(TooNew));
        var tail = await world.TailAsync();

        var stopped = await Assert.ThrowsAsync<TangoLevelException>(
            async () => await runtime.OpenAsync<Accounts>("other", OpenMode.Create));
        Assert.Equal((TooNew, FeatureLevel.Newest), (stopped.LogLevel, stopped.CodeLevel));
        Assert.Equal(
            "The log has feature level 100, and this code knows levels up to 3: run a newer version of it",
            stopped.Message);
        await Assert.ThrowsAsync<TangoLevelException>(async () => await runtime.Log.ReadLevelAsync());
        await Assert.ThrowsAsync<TangoLevelException>(async () => await runtime.Log.RaiseLevelAsync(1));
        await Assert.ThrowsAsync<TangoLevelException>(async () => await runtime.Directory.ListAsync());
        await Assert.ThrowsAsync<TangoLevelException>(
            async () => await world.NewRuntime().OpenAsync<Accounts>("accounts", OpenMode.Create));
        Assert.Equal(tail, await world.TailAsync());

        // An open object goes on until it meets a record that it cannot read.
        Assert.Equal(1, await accounts.BalanceAsync("x"));
    }

    /// <summary>A checkpoint of the directory says by its level who can load it; a runtime that cannot says so when it
    /// meets the record that raised it.</summary>
    [Fact]
    public async Task The_directory_of_a_raised_log_is_checkpointed_and_loaded_by_newer_code()
    {
        await using var world = new World();
        await world.OpenAccountsAsync();
        var next = world.NewRuntime(s_next);
        await next.Log.RaiseLevelAsync(Next);
        var end = await next.Checkpoints.WriteDirectoryAsync();
        await world.Log.TrimPrefixAsync(end);
        Assert.Equal(Next, await world.NewRuntime(s_next).Log.ReadLevelAsync());
        Assert.Single(await world.NewRuntime(s_next).Directory.ListAsync());
        await Assert.ThrowsAnyAsync<TangoException>(async () => await world.NewRuntime().Directory.ListAsync());
    }

    [Fact]
    public void Only_the_record_that_creates_the_first_object_sets_level_and_span()
    {
        var directory = new TangoDirectory(2);
        Apply(directory, TangoDirectory.Mutators.Create, DirectoryFormat.Create(new(1, 9), null, [New("a")]));
        Apply(directory, TangoDirectory.Mutators.Create, DirectoryFormat.Create(new(2, 7), null, [New("b")]));
        Assert.Equal((1, 9), (directory.Level, directory.MaxSpan));
        Assert.Equal("b", Assert.Single(directory.GroupOf(new ObjectId(257))).Name);

        var refused = new TangoDirectory(2);
        Assert.Throws<TangoRejectedException>(() => Apply(refused, TangoDirectory.Mutators.Create,
            DirectoryFormat.Create(new(2, 7), "g", [New("a"), New("a")])));
        Assert.Throws<TangoRejectedException>(() => Apply(refused, TangoDirectory.Mutators.Create,
            DirectoryFormat.Create(new(2, 0), null, [New("a")])));
        Assert.Throws<TangoRejectedException>(() => Apply(refused, TangoDirectory.Mutators.Create,
            DirectoryFormat.Create(new(2, 7), "g", [])));
        Assert.True(refused.IsUntouched);
        Assert.Throws<TangoLevelException>(() => Apply(refused, TangoDirectory.Mutators.Create,
            DirectoryFormat.Create(new(TooNew, 7), null, [New("a")])));
        Assert.True(refused.IsUntouched);
        Apply(refused, TangoDirectory.Mutators.Create, DirectoryFormat.Create(new(2, 7), null, [New("a")]));
        Assert.Equal((2, 7), (refused.Level, refused.MaxSpan));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void Directory_state_is_loaded_as_saved(int level)
    {
        var directory = new TangoDirectory(level);
        Apply(directory, TangoDirectory.Mutators.Create,
            DirectoryFormat.Create(new(level, 7), "g", [New("a"), New("b")]));
        var saved = Saved(directory);
        var loaded = new TangoDirectory(level);
        ((ITangoView)loaded).LoadState(saved);
        Assert.Equal(saved, Saved(loaded));
        Assert.Equal((level, 7), (loaded.Level, loaded.MaxSpan));
        Assert.Equal(directory.Entries, loaded.Entries);
        Assert.Equal(2, loaded.GroupOf(new ObjectId(256)).Count);
    }

    /// <summary>Whatever form the later level's state has.</summary>
    [Fact]
    public void A_state_of_a_level_that_is_not_known_is_refused()
    {
        var state = new ArgumentBuffer();
        var writer = new MessagePackWriter(state);
        writer.WriteArrayHeader(3);
        writer.Write(TooNew);
        writer.Write(300UL);
        writer.Write("new");
        writer.Flush();
        Assert.Throws<TangoLevelException>(() => ((ITangoView)new TangoDirectory()).LoadState(state.WrittenMemory));
        Assert.Throws<TangoFormatException>(
            () => ((ITangoView)new TangoDirectory()).LoadState(new byte[] { 0x93, 1, 0, 0 }));
    }

    /// <summary>The record with which such logs began: it created the first object of level 4.</summary>
    [Fact]
    public async Task Log_from_before_the_first_release_is_refused_with_advice()
    {
        await using var world = new World();
        await world.Log.AppendToObjectsAsync(Entry(FirstObjectBeforeRelease), [ObjectId.Directory.Stream]);
        await RequireTooOldAsync(world);
    }

    /// <summary>The prefix with the record is trimmed, and a checkpoint of the directory is what is left.</summary>
    [Fact]
    public async Task Directory_checkpoint_from_before_the_first_release_is_refused_with_advice()
    {
        await using var world = new World();
        byte[] final = [0x97, 5, 2, 1, 0x91, 1, 0, 0, 0x91, 0];
        await world.Log.AppendToObjectsAsync(
            Entry(final), [Tango.Checkpoints.CheckpointFormat.StreamOf(ObjectId.Directory)]);
        await RequireTooOldAsync(world);
    }

    [Fact]
    public async Task Log_of_raw_entries_gets_the_level_of_the_first_object()
    {
        await using var world = new World();
        await world.Log.AppendAsync(Entry(FirstObjectBeforeRelease), [StreamId.FromName("raw")]);
        await world.Log.AppendAsync("raw"u8.ToArray(), []);
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("x", 1);
        Assert.Single(await runtime.Directory.ListAsync());
    }

    private static byte[] FirstObjectBeforeRelease =>
    [
        0x95, 1, 1, 3, 0xc0, 0xc4, 33, 0x94, 4, 0xcd, 0x40, 0, 0xc0,
        0x91, 0x93, 0xa5, .. "first"u8, 0xad, .. "test-accounts"u8, 0xce, 0, 1, 0, 0,
    ];

    private static byte[] Entry(byte[] record) => [0x94, 1, 7, 1, 0x91, .. record];

    private static async Task RequireTooOldAsync(World world)
    {
        var tail = await world.TailAsync();
        var runtime = world.NewRuntime();
        var told = await Assert.ThrowsAsync<TangoLevelException>(
            async () => await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create));
        Assert.Equal((0, FeatureLevel.Newest), (told.LogLevel, told.CodeLevel));
        Assert.Contains("Read them with the version that wrote them", told.Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<TangoLevelException>(async () => await runtime.Directory.ListAsync());
        await Assert.ThrowsAsync<TangoLevelException>(async () => await runtime.Log.RaiseLevelAsync(1));
        await Assert.ThrowsAsync<TangoLevelException>(async () => await runtime.History.OpenAsync(tail));
        Assert.Equal(tail, await world.TailAsync());
    }

    private static TangoDirectory.NewObject New(string name) => new(name, "type", 16);

    private static void Apply(ITangoView directory, int mutator, ArgumentBuffer arguments) =>
        directory.Apply(mutator, default, arguments.WrittenMemory, new ApplyContext(null));

    private static byte[] Saved(ITangoView view)
    {
        var state = new ArgumentBuffer();
        view.SaveState(state);
        return state.WrittenSpan.ToArray();
    }
}
