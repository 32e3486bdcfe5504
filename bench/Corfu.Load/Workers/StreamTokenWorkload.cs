using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Load;

/// <summary>Tokens of one stream from a bare sequencer: each is plain, or declares an entry that read three keys and
/// writes three others.</summary>
internal sealed class StreamTokenWorkload(BareRole role, WorkloadSetting setting, bool declares) : IWorkload
{
    private const int Reads = 3;
    private const int Writes = 3;

    private static readonly StreamId s_stream = new(100);

    private readonly TcpTransport _transport = role.Connect();
    private readonly KeyPicker _picker = new(setting.Keys, setting.Zipf);
    private long _tail;
    private long _refused;

    public Func<int, ValueTask> Prepare(int callers, int size)
    {
        var random = Enumerable.Range(0, callers).Select(static caller => new Random(caller)).ToArray();
        return async caller =>
        {
            var request = new TokenRequest(Epoch.First, 1, [s_stream])
            {
                Declarations = declares ? [Declare(random[caller])] : [],
            };
            var response = await _transport.CallAsync(role.Address, request, CancellationToken.None);
            if (!response.IsOk || response.Rulings.IsEmpty == declares)
                throw CorfuStatusException.Create(response.Status, "token");
            if (declares && !response.Rulings[0].IsGranted) Interlocked.Increment(ref _refused);
            Rise(response.First.Offset);
        };
    }

    public long TakeAborted() => Interlocked.Exchange(ref _refused, 0);

    public ValueTask DisposeAsync()
    {
        _transport.Dispose();
        return default;
    }

    // The tail is that of the newest answer, as if all below it were played.
    private Declaration Declare(Random random)
    {
        var keys = new int[Reads + Writes];
        _picker.Fill(random, keys);
        var scopes = Array.ConvertAll(keys, static key => new CellScope(s_stream, ScopeKind.Keyed, (ulong)key));
        return new Declaration([
            new DeclaredRecord([.. scopes[Reads..]], new LogPosition(Volatile.Read(ref _tail), Epoch.First),
                [.. scopes[..Reads]]),
        ]);
    }

    private void Rise(long tail)
    {
        for (var known = _tail; known < tail;)
        {
            var found = Interlocked.CompareExchange(ref _tail, tail, known);
            if (found == known) return;
            known = found;
        }
    }
}
