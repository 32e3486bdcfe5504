using Corfu.Client;
using Corfu.Protocol;
using Tango.Formatting;
using Tango.Records;

namespace Tango.Tests;

/// <summary>R23: what older code cannot read is written only at a level that an operator has raised.</summary>
public class FeatureLevelTests
{
    private const int TooNew = FeatureLevel.Newest + 97;

    private static readonly TangoOptions s_first = new() { NewLogLevel = FeatureLevel.First };

    [Fact]
    public async Task A_new_log_has_the_level_of_the_runtime_that_creates_its_first_object()
    {
        await using var world = new World();
        var (runtime, _) = await world.OpenAccountsAsync();
        Assert.Equal(FeatureLevel.Newest, await runtime.ReadLevelAsync());
        await runtime.RequireLevelAsync(FeatureLevel.Checkpoints, "A checkpoint", default);
        Assert.True(runtime.HasLevel(FeatureLevel.Checkpoints, "A checkpoint"));
    }

    [Fact]
    public async Task An_older_log_keeps_its_level_until_it_is_raised_and_says_how()
    {
        await using var world = new World();
        var older = world.NewRuntime(s_first);
        var accounts = await older.OpenAsync<Accounts>("accounts", OpenMode.Create);
        var (runtime, _) = await world.OpenAccountsAsync("second");
        Assert.Equal(FeatureLevel.First, await runtime.ReadLevelAsync());
        var tail = await world.TailAsync();
        var refused = await Assert.ThrowsAsync<TangoLevelException>(
            async () => await runtime.RequireLevelAsync(FeatureLevel.Checkpoints, "A checkpoint", default));
        Assert.Equal(
            "A checkpoint needs feature level 2, and this log has level 1. Once every client of the log runs code that "
            + "knows level 2: corfu tango level raise 2",
            refused.Message);
        Assert.Equal((1, 2), (refused.LogLevel, refused.NeededLevel));
        Assert.Equal(tail, await world.TailAsync());

        Assert.Equal(FeatureLevel.Newest, await runtime.RaiseLevelAsync(FeatureLevel.Newest));
        // The other runtime has not played the record yet, and looks it up.
        await older.RequireLevelAsync(FeatureLevel.Checkpoints, "A checkpoint", default);
        await accounts.SetAsync("x", 1);
        Assert.Equal(1, await accounts.BalanceAsync("x"));
    }

    [Fact]
    public async Task Raising_to_a_level_that_is_there_writes_nothing()
    {
        await using var world = new World();
        var (runtime, _) = await world.OpenAccountsAsync();
        var tail = await world.TailAsync();
        Assert.Equal(FeatureLevel.Newest, await runtime.RaiseLevelAsync(FeatureLevel.First));
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(
            async () => await runtime.RaiseLevelAsync(FeatureLevel.Newest + 1));
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(async () => await runtime.RaiseLevelAsync(0));
        Assert.Equal(tail, await world.TailAsync());
    }

    [Fact]
    public async Task What_a_runtime_leaves_undone_is_logged_once()
    {
        await using var world = new World();
        var lines = new LogLines();
        await using var runtime = new TangoRuntime(
            world.Log, world.Log.OpenCursor, TimeProvider.System, SystemEntropy.Instance, s_first, lines);
        Assert.False(runtime.HasLevel(FeatureLevel.Checkpoints, "A checkpoint"));
        await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        Assert.False(runtime.HasLevel(FeatureLevel.Checkpoints, "A checkpoint"));
        Assert.False(runtime.HasLevel(FeatureLevel.Checkpoints, "A checkpoint"));
        Assert.Contains("corfu tango level raise 2", Assert.Single(lines.Written), StringComparison.Ordinal);
        await runtime.RaiseLevelAsync(FeatureLevel.Checkpoints);
        Assert.True(runtime.HasLevel(FeatureLevel.Checkpoints, "A checkpoint"));
    }

    [Fact]
    public async Task Code_that_meets_a_level_above_its_own_opens_nothing_and_names_both()
    {
        await using var world = new World();
        var (runtime, accounts) = await world.OpenAccountsAsync();
        await accounts.SetAsync("x", 1);
        await RawRecords.AppendToDirectoryAsync(world, 2, DirectoryFormat.RaiseLevel(TooNew));
        var tail = await world.TailAsync();

        var stopped = await Assert.ThrowsAsync<TangoLevelException>(
            async () => await runtime.OpenAsync<Accounts>("other", OpenMode.Create));
        Assert.Equal((TooNew, FeatureLevel.Newest), (stopped.LogLevel, stopped.CodeLevel));
        Assert.Equal(
            "The log has feature level 101, and this code knows levels up to 4: run a newer version of it",
            stopped.Message);
        await Assert.ThrowsAsync<TangoLevelException>(async () => await runtime.ReadLevelAsync());
        await Assert.ThrowsAsync<TangoLevelException>(async () => await runtime.RaiseLevelAsync(2));
        await Assert.ThrowsAsync<TangoLevelException>(async () => await runtime.ListObjectsAsync());
        Assert.False(runtime.HasLevel(FeatureLevel.Checkpoints, "A checkpoint"));
        await Assert.ThrowsAsync<TangoLevelException>(
            async () => await world.NewRuntime().OpenAsync<Accounts>("accounts", OpenMode.Create));
        Assert.Equal(tail, await world.TailAsync());

        // What is open goes on until it meets a record that it cannot read.
        Assert.Equal(1, await accounts.BalanceAsync("x"));
    }

    [Fact]
    public void Only_the_record_that_creates_the_first_object_sets_level_and_span()
    {
        var directory = new TangoDirectory();
        Apply(directory, 1, DirectoryFormat.Create(null, [new("a", "type", 16)]));
        Apply(directory, 3, DirectoryFormat.CreateFirst(2, 7, null, [new("b", "type", 16)]));
        Assert.Equal((1, TangoDirectory.MaxSpanOfFirstLevel), (directory.Level, directory.MaxSpan));
        Assert.Equal("b", Assert.Single(directory.GroupOf(new ObjectId(257))).Name);

        var refused = new TangoDirectory();
        Assert.Throws<TangoRejectedException>(() => Apply(
            refused, 3, DirectoryFormat.CreateFirst(2, 7, "g", [new("a", "type", 16), new("a", "type", 16)])));
        Assert.True(refused.IsUntouched);
        Assert.Throws<TangoLevelException>(() => Apply(
            refused, 3, DirectoryFormat.CreateFirst(TooNew, 7, null, [new("a", "type", 16)])));
        Assert.True(refused.IsUntouched);
        Apply(refused, 3, DirectoryFormat.CreateFirst(2, 7, null, [new("a", "type", 16)]));
        Assert.Equal((2, 7), (refused.Level, refused.MaxSpan));
    }

    /// <summary>The form of the first level is what older code loads.</summary>
    [Theory]
    [InlineData(1, 2)]
    [InlineData(2, DirectoryFormat.StateLengthOfSecondLevel)]
    [InlineData(3, DirectoryFormat.StateLengthOfThirdLevel)]
    [InlineData(4, DirectoryFormat.StateLength)]
    public void The_directorys_state_is_loaded_as_it_was_saved(int level, int elements)
    {
        var directory = new TangoDirectory();
        var create = level == 1
            ? (1, DirectoryFormat.Create("g", [new("a", "type", 16), new("b", "type", 16)]))
            : (3, DirectoryFormat.CreateFirst(level, 7, "g", [new("a", "type", 16), new("b", "type", 16)]));
        Apply(directory, create.Item1, create.Item2);
        var saved = Saved(directory);
        Assert.Equal(elements, new MessagePackReader(saved).ReadArrayHeader());

        var loaded = new TangoDirectory();
        ((ITangoView)loaded).LoadState(saved);
        Assert.Equal(saved, Saved(loaded));
        Assert.Equal((directory.Level, directory.MaxSpan), (loaded.Level, loaded.MaxSpan));
        Assert.Equal(2, loaded.GroupOf(new ObjectId(256)).Count);
    }

    [Fact]
    public void A_state_of_a_level_that_is_not_known_is_refused()
    {
        var state = new ArgumentBuffer();
        var writer = new MessagePackWriter(state);
        writer.WriteArrayHeader(DirectoryFormat.StateLength);
        writer.Write(300UL);
        writer.WriteArrayHeader(0);
        writer.Write(TooNew);
        for (var left = DirectoryFormat.StateLength - 3; left > 0; left--) writer.Write(7);
        writer.Flush();
        Assert.Throws<TangoLevelException>(() => ((ITangoView)new TangoDirectory()).LoadState(state.WrittenMemory));
        Assert.Throws<TangoFormatException>(
            () => ((ITangoView)new TangoDirectory()).LoadState(new byte[] { 0x93, 0, 0, 0 }));
    }

    private static void Apply(ITangoView directory, int mutator, ArgumentBuffer arguments) =>
        directory.Apply(mutator, default, arguments.WrittenMemory, new ApplyContext(null));

    private static byte[] Saved(ITangoView view)
    {
        var state = new ArgumentBuffer();
        view.SaveState(state);
        return state.WrittenSpan.ToArray();
    }

    /// <summary>What another program would append.</summary>
}
