using Tango;
using Tango.Model;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>The newest client of each number. The client of a process that was killed stays until the next one has
/// opened.</summary>
internal sealed class OpenClients
{
    // Enumerated for minimum and maximum, and by checks of all.
    private readonly Dictionary<int, TangoClient> _byNumber = [];

    public int Count => _byNumber.Count;

    public IEnumerable<TangoClient> All => _byNumber.Values;

    public long LowestPlayed => All.Min(static client => client.Runtime.Log.PlayedTo.Offset);

    public TangoDirectory NewestDirectory =>
        All.MaxBy(static client => client.Runtime.Log.PlayedTo)!.Runtime.Services.Playback.Directory.Published;

    public void Add(TangoClient client) => _byNumber[client.Number] = client;

    public TangoClient? Find(int number) => _byNumber.GetValueOrDefault(number);
}
