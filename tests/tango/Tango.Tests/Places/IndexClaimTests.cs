using Corfu;

namespace Tango.Tests.Places;

/// <summary>The log keeps the values that an index holds, and nothing else for it.</summary>
public class IndexClaimTests
{
    private static readonly TangoOptions s_options = new()
    {
        NewLogMaxSpan = 1,
        Checkpoints = null,
        Types = new TangoTypeRegistry().Add<Notes>().Add<Accounts>(),
    };

    /// <summary>Two hosts, one of which comes and goes, a runtime that loads the object for a checkpoint, and trims as
    /// far as claims allow: at any moment every place of every view gives its value.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    [InlineData(5)]
    [InlineData(6)]
    public void A_live_place_is_always_readable(int seed) => SeededContext.Run(seed, async time =>
    {
        await using var world = new World(new() { MaxPayload = 2_000 }, time);
        var random = new Random(seed);
        var model = new SortedDictionary<string, string>(StringComparer.Ordinal);
        var options = s_options with { NewLogMaxSpan = 8 };
        TangoRuntime[] runtimes = [world.NewRuntime(options), world.NewRuntime(options)];
        Notes[] notes =
            [await runtimes[0].OpenAsync<Notes>("notes", OpenMode.Create), await runtimes[1].OpenAsync<Notes>("notes")];
        var unhosted = world.NewRuntime(options);
        var (trims, held) = (0, LogPosition.Zero);
        for (var step = 0; step < 150; step++)
        {
            var (who, key) = (random.Next(2), $"{random.Next(12)}");
            switch (random.Next(12))
            {
                case < 5:
                    await notes[who].SetAsync(key, model[key] = $"text {step}");
                    break;
                case 5:
                    await notes[who].RemoveAsync(key);
                    model.Remove(key);
                    break;
                case 6:
                    await using (var transaction = runtimes[who].BeginTx())
                    {
                        for (var i = 0; i < 3; i++)
                            await notes[who].SetAsync($"{i}", model[$"{i}"] = $"text {step} " + new string('x', 900));
                        Assert.True((await transaction.EndTxAsync()).IsCommitted);
                    }

                    break;
                case 7:
                    await runtimes[who].Checkpoints.WriteAsync(notes[who]);
                    break;
                case 8:
                    await unhosted.Checkpoints.WriteAsync("notes");
                    break;
                case 9:
                    await runtimes[who].Checkpoints.WriteDirectoryAsync();
                    var released = await runtimes[who].Log.TrimAsync();
                    if (released > held) trims++;
                    held = released;
                    break;
                case 10:
                    await runtimes[1].DisposeAsync();
                    runtimes[1] = world.NewRuntime(options);
                    notes[1] = await runtimes[1].OpenAsync<Notes>("notes");
                    break;
                default:
                    foreach (var view in notes) Assert.Equal(model, await view.ReadAllAsync());
                    break;
            }
        }

        foreach (var view in notes) Assert.Equal(model, await view.ReadAllAsync());
        Assert.True(trims > 1, $"{trims} trims");
    });

    [Fact]
    public void Oldest_value_holds_the_log_and_is_named_until_replaced() => SeededContext.Run(1, async time =>
    {
        await using var world = new World(time: time);
        var runtime = world.NewRuntime(s_options);
        var notes = await runtime.OpenAsync<Notes>("notes", OpenMode.Create);
        var old = await notes.ReplaceAsync("old", "value");
        await ReplaceAsync(notes, 20);
        await CheckpointAllAsync(runtime, notes);
        var claim = await ClaimAsync(runtime);
        Assert.Equal((old.Position, (LogPosition?)old.Position), (claim.Position, claim.OldestValue));
        Assert.True(claim.IsHeldByValues);
        Assert.Equal(old.Position, await runtime.Log.TrimAsync());
        Assert.Equal("value", await notes.ReadAsync(old));
        var refused = await Assert.ThrowsAsync<TangoClaimedException>(
            async () => await runtime.Log.TrimBelowAsync(old.Position.Next));
        Assert.True(Assert.Single(refused.Claims).IsHeldByValues);

        // A single checkpoint is not enough: the one before has the value.
        await notes.SetAsync("old", "new");
        await ReplaceAsync(notes, 20);
        await runtime.Checkpoints.WriteAsync(notes);
        Assert.Equal(old.Position, (await ClaimAsync(runtime)).Position);
        Assert.False((await ClaimAsync(runtime)).IsHeldByValues);
        await CheckpointAllAsync(runtime, notes);
        Assert.True((await ClaimAsync(runtime)).Position > old.Position);
        Assert.True(await runtime.Log.TrimAsync() > old.Position);
        await Assert.ThrowsAsync<TangoTrimmedException>(async () => await notes.ReadAsync(old));
        Assert.Equal("new", (await notes.ReadAllAsync())["old"]);
    });

    [Fact]
    public void Removed_value_and_deleted_object_do_not_hold_the_log() => SeededContext.Run(2, async time =>
    {
        await using var world = new World(time: time);
        var runtime = world.NewRuntime(s_options);
        var (notes, deleted) =
            (await runtime.OpenAsync<Notes>("notes", OpenMode.Create),
                await runtime.OpenAsync<Notes>("deleted", OpenMode.Create));
        var removed = await notes.ReplaceAsync("x", "removed");
        var gone = await deleted.ReplaceAsync("x", "gone");
        await notes.RemoveAsync("x");
        await runtime.Directory.DeleteAsync("deleted");
        await ReplaceAsync(notes, 20);
        await CheckpointAllAsync(runtime, notes);
        await ReplaceAsync(notes, 20);
        await CheckpointAllAsync(runtime, notes);
        Assert.True(await runtime.Log.TrimAsync() > gone.Position);
        await Assert.ThrowsAsync<TangoTrimmedException>(async () => await notes.ReadAsync(removed));
        Assert.Single(await notes.ReadAllAsync());
    });

    /// <summary>An index of a group holds what the group's other members would not need.</summary>
    [Fact]
    public void Claim_of_a_group_includes_the_values_of_the_members() => SeededContext.Run(3, async time =>
    {
        await using var world = new World(time: time);
        var runtime = world.NewRuntime(s_options);
        Accounts accounts = null!;
        Notes notes = null!;
        await runtime.OpenGroupAsync(
            "pair", group => (accounts, notes) = (group.Add<Accounts>("accounts"), group.Add<Notes>("notes")));
        var place = await notes.ReplaceAsync("x", "value");
        for (var i = 0; i < 20; i++) await accounts.SetAsync("x", i);
        await CheckpointAllAsync(runtime, accounts);
        await CheckpointAllAsync(runtime, accounts);
        Assert.Equal(place.Position, await runtime.Log.TrimAsync());
        await runtime.DisposeAsync();
        var late = await world.NewRuntime(s_options).OpenAsync<Notes>("notes", OpenMode.Create);
        Assert.Equal("value", (await late.ReadAllAsync())["x"]);
    });

    /// <summary>More checkpoints of an index that no program has open do not help, and are not made.</summary>
    [Fact]
    public void An_index_that_holds_the_log_is_not_checkpointed_again_and_again() => SeededContext.Run(4, async time =>
    {
        await using var world = new World(time: time);
        var often = s_options with { Checkpoints = new CheckpointPolicy { Updates = 10 } };
        var host = world.NewRuntime(s_options);
        var notes = await host.OpenAsync<Notes>("notes", OpenMode.Create);
        var old = await notes.ReplaceAsync("old", "value");
        await CheckpointAllAsync(host, notes);
        await CheckpointAllAsync(host, notes);
        await host.DisposeAsync();
        var before = (await Checkpoints.CheckpointWorld.CheckpointEntriesAsync(world, 256)).Count;
        var runtime = world.NewRuntime(often);
        var accounts = await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        for (var i = 0; i < 15; i++) await accounts.AddAsync("x", i);
        for (var i = 0; i < 100; i++) await Task.Yield();
        Assert.Equal(before, (await Checkpoints.CheckpointWorld.CheckpointEntriesAsync(world, 256)).Count);
        Assert.Equal("value", await (await runtime.OpenAsync<Notes>("notes", OpenMode.Create)).ReadAsync(old));
    });

    [Fact]
    public async Task A_second_view_holds_places_only_of_an_index()
    {
        await using var world = new World();
        var runtime = world.NewRuntime();
        await runtime.OpenAsync<Accounts>("accounts", OpenMode.Create);
        var notes = await runtime.OpenAsync<Notes>("notes", OpenMode.Create);
        await notes.SetAsync("x", "value");
        await Assert.ThrowsAsync<TangoDirectoryException>(
            async () => await runtime.OpenViewAsync<Accounts, Notes>("accounts"));
        var view = await runtime.OpenViewAsync<Notes, Notes>("notes");
        Assert.Equal("value", (await view.ReadAllAsync())["x"]);
    }

    /// <summary>Places in a forked index would name calls of another object.</summary>
    [Fact]
    public async Task An_index_is_not_forked()
    {
        await using var world = new World();
        var runtime = world.NewRuntime();
        await (await runtime.OpenAsync<Notes>("notes", OpenMode.Create)).SetAsync("x", "value");
        var refused = await Assert.ThrowsAsync<TangoDirectoryException>(
            async () => await runtime.History.ForkAsync("notes", await world.TailAsync(), "copy"));
        Assert.Contains("'notes' keeps values in the log", refused.Message, StringComparison.Ordinal);
        Assert.Single(await runtime.Directory.ListAsync());
    }

    private static async Task ReplaceAsync(Notes notes, int count)
    {
        for (var i = 0; i < count; i++) await notes.SetAsync("other", $"text {i}");
    }

    private static async Task CheckpointAllAsync(TangoRuntime runtime, TangoObject handle)
    {
        for (var i = 0; i < 2; i++)
        {
            await runtime.Checkpoints.WriteAsync(handle);
            await runtime.Checkpoints.WriteDirectoryAsync();
        }
    }

    private static async Task<TangoClaim> ClaimAsync(TangoRuntime runtime) =>
        (await runtime.Log.ReadTrimPointAsync()).Claims.Single(static claim => claim.Kind == TangoClaimKind.Object);
}
