namespace Corfu.Unit.Tests;

/// <summary>
/// Power cuts over everything that a unit does, cleaner included. A share runs here; CORFU_POWER_CUTS=20000 asks for that many states (docs/testing.md),
/// and CORFU_POWER_CUT_PLANT=no-sync takes the syncs away, which must be found.
/// </summary>
public sealed class PowerCutTests(ITestOutputHelper output) : IDisposable
{
    private const int DefaultStates = 1500;
    private const int StepsPerRun = 120;

    private readonly TempFolder _folder = new();

    private string Scratch => Path.Combine(_folder.Path, "map");

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Every_prefix_and_subsets_of_unsynced_writes_keep_what_was_acknowledged()
    {
        var wanted = int.TryParse(Environment.GetEnvironmentVariable("CORFU_POWER_CUTS"), out var n) ? n : DefaultStates;
        var plant = Environment.GetEnvironmentVariable("CORFU_POWER_CUT_PLANT");
        var states = await EnumerateAsync(wanted, withoutSync: plant == "no-sync");
        output.WriteLine($"power cuts: {states} states checked");
        Assert.True(states >= wanted);
    }

    [Fact]
    public async Task Without_syncs_the_run_fails() =>
        await Assert.ThrowsAnyAsync<Xunit.Sdk.XunitException>(() => EnumerateAsync(DefaultStates, withoutSync: true));

    private async Task<int> EnumerateAsync(int wanted, bool withoutSync)
    {
        var states = 0;
        for (var seed = 1; states < wanted; seed++)
        {
            var run = new PowerCutRun(withoutSync);
            await run.RecordAsync(seed, StepsPerRun, Scratch);
            var random = new Random(seed);
            // Of a small number of states a part of each kind of moment; of a large one every prefix.
            var stride = wanted <= DefaultStates ? 3 : 1;
            for (var events = 0; events <= run.Files.Events.Count && states < wanted; events += stride)
            {
                await run.CheckAsync(events, _ => [], $"seed {seed}, lost after {events}");
                await run.CheckAsync(events, _ => [Range.All], $"seed {seed}, kept after {events}");
                await run.CheckAsync(events, w => CrashTests.Fate(random, w), $"seed {seed}, torn after {events}");
                states += 3;
            }
        }

        return states;
    }
}
