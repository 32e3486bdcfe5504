using Corfu.Client;

namespace Corfu.Load;

/// <summary>Reads entries at random positions of <see cref="Entries"/> that it appended itself.</summary>
internal sealed class ReadWorkload(CorfuClient client) : IWorkload
{
    private const int Entries = 2048;
    private const int AppendsAtOnce = 256;

    private readonly Dictionary<int, Task<LogPosition[]>> _positions = [];

    public Func<int, ValueTask> Prepare(int callers, int size)
    {
        if (!_positions.TryGetValue(size, out var appended)) _positions.Add(size, appended = AppendAsync(size));
        var random = Enumerable.Range(0, callers).Select(caller => new Random(caller)).ToArray();
        return async caller =>
        {
            var positions = await appended;
            var read = await client.ReadManyAsync([positions[random[caller].Next(positions.Length)]]);
            if (read[0].State != PageState.Data)
                throw new CorfuException($"A position that was appended to is {read[0].State}.");
        };
    }

    public ValueTask DisposeAsync() => default;

    private async Task<LogPosition[]> AppendAsync(int size)
    {
        var positions = new List<LogPosition>(Entries);
        var payload = new byte[size];
        while (positions.Count < Entries)
        {
            var appends = Enumerable.Range(0, AppendsAtOnce).Select(_ => client.AppendAsync(payload, []).AsTask());
            positions.AddRange((await Task.WhenAll(appends)).Select(result => result.Require()));
        }

        return [.. positions];
    }
}
