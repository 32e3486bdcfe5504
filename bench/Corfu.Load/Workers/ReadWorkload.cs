using Corfu.Client;

namespace Corfu.Load;

/// <summary>Reads entries of <see cref="Entries"/> that it appended itself, from a random one on.</summary>
/// <param name="batch">Entries of one call, which share the operation's bytes.</param>
internal sealed class ReadWorkload(CorfuClient client, int batch) : IWorkload
{
    private const int Entries = 2048;
    private const int AppendsAtOnce = 256;

    private readonly Dictionary<int, Task<LogPosition[]>> _positions = [];

    public Func<int, ValueTask> Prepare(int callers, int size)
    {
        var entry = size / batch;
        if (!_positions.TryGetValue(entry, out var appended)) _positions.Add(entry, appended = AppendAsync(entry));
        var random = Enumerable.Range(0, callers).Select(caller => new Random(caller)).ToArray();
        return async caller =>
        {
            var positions = await appended;
            var first = random[caller].Next(positions.Length - batch + 1);
            var read = await client.ReadManyAsync([.. positions.AsSpan(first, batch)]);
            foreach (var page in read)
            {
                if (page.State != PageState.Data)
                    throw new CorfuException($"A position that was appended to is {page.State}.");
            }
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
