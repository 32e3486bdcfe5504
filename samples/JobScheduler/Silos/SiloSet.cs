using JobScheduler.Cli;

namespace JobScheduler.Silos;

/// <summary>The silo processes of a run. A place whose process ended gets a new one, with a new name.</summary>
internal sealed class SiloSet : IAsyncDisposable
{
    /// <summary>Silos that may end by themselves in one run; more are a fault of the cluster or the program.</summary>
    private const int MaxUnexpectedEnds = 10;

    private readonly SiloSettings _settings;
    private readonly SiloProcess?[] _places;
    private int _started;
    private int _unexpectedEnds;

    private SiloSet(SiloSettings settings)
    {
        _settings = settings;
        _places = new SiloProcess?[settings.Options.Silos!.Value];
    }

    public int Count => _places.Length;

    public static async Task<SiloSet> StartAsync(SiloSettings settings, CancellationToken cancellationToken)
    {
        var set = new SiloSet(settings);
        try
        {
            await Task.WhenAll(Enumerable.Range(0, set.Count).Select(place => set.FillAsync(place, cancellationToken)));
            return set;
        }
        catch
        {
            await set.DisposeAsync();
            throw;
        }
    }

    /// <summary>Kills one silo and starts another in its place: one of <paramref name="preferred"/> if there are
    /// such.</summary>
    /// <param name="killed">Called between the two.</param>
    public async Task ReplaceAsync(
        IReadOnlyCollection<string> preferred, Action killed, CancellationToken cancellationToken)
    {
        int place = Math.Max(
            0, Array.FindIndex(_places, silo => silo is not null && preferred.Contains(silo.Name)));
        if (_places[place] is { } victim)
        {
            await victim.KillAsync();
            await EmptyAsync(place);
        }

        killed();
        await FillAsync(place, cancellationToken);
    }

    /// <summary>Starts silos in place of those that ended by themselves.</summary>
    /// <exception cref="SiloException">Too many did.</exception>
    public async Task MendAsync(CancellationToken cancellationToken)
    {
        for (int place = 0; place < Count; place++)
        {
            if (_places[place] is { HasEnded: false })
                continue;
            if (++_unexpectedEnds > MaxUnexpectedEnds)
                throw new SiloException($"more than {MaxUnexpectedEnds} silos ended by themselves");
            await EmptyAsync(place);
            await FillAsync(place, cancellationToken);
        }
    }

    public async ValueTask DisposeAsync() =>
        await Task.WhenAll(Enumerable.Range(0, Count).Select(EmptyAsync));

    private async Task FillAsync(int place, CancellationToken cancellationToken) =>
        _places[place] = await SiloProcess.StartAsync(
            _settings with { Name = $"silo-{Interlocked.Increment(ref _started)}" }, cancellationToken);

    private async Task EmptyAsync(int place)
    {
        SiloProcess? silo = _places[place];
        _places[place] = null;
        if (silo is not null)
            await silo.DisposeAsync();
    }
}
