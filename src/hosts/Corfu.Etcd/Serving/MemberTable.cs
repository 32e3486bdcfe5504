using System.Globalization;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace Corfu.Etcd.Serving;

/// <summary>The front ends of a service: each has a key with a lease in a store beside the service's, so that their
/// coming and going makes no revision of the service.</summary>
internal sealed class MemberTable(CorfuStore members, ServedMember self) : IAsyncDisposable
{
    private static readonly TimeSpan s_timeToLive = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan s_retry = TimeSpan.FromSeconds(1);

    private readonly CancellationTokenSource _stop = new();
    private Task _keeping = Task.CompletedTask;

    /// <summary>Adds this front end, until the table is disposed.</summary>
    public async ValueTask JoinAsync(CancellationToken cancellationToken)
    {
        var lease = await WriteAsync(cancellationToken).ConfigureAwait(false);
        _keeping = LoopContext.Pool.RunAsync(() => KeepAsync(lease));
    }

    /// <summary>In the order of their numbers.</summary>
    /// <param name="local">Whether what is known here suffices.</param>
    public async ValueTask<ImmutableArray<ServedMember>> ListAsync(bool local, CancellationToken cancellationToken)
    {
        var found = await members.RangeAsync(
            StoreRange.All, at: local ? ReadAs.Local : ReadAs.Linearizable, cancellationToken: cancellationToken)
            .ConfigureAwait(false);
        return [.. found.Entries.Select(static entry =>
            JsonSerializer.Deserialize(entry.Value.Span, MemberJson.Default.ServedMember)!)];
    }

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync().ConfigureAwait(false);
        await _keeping.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await members.DisposeAsync().ConfigureAwait(false);
        _stop.Dispose();
    }

    private async Task<TangoLease> WriteAsync(CancellationToken cancellationToken)
    {
        var lease = await members.KeepLeaseAsync(s_timeToLive, cancellationToken).ConfigureAwait(false);
        try
        {
            var value = JsonSerializer.SerializeToUtf8Bytes(self, MemberJson.Default.ServedMember);
            await members.PutAsync(self.Id.ToString("x16", CultureInfo.InvariantCulture), value, lease.Id,
                cancellationToken).ConfigureAwait(false);
            return lease;
        }
        catch
        {
            await lease.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    // A process that was away comes back into the table.
    private async Task KeepAsync(TangoLease lease)
    {
        var current = lease;
        while (true)
        {
            using var end = CancellationTokenSource.CreateLinkedTokenSource(current.Lost, _stop.Token);
            await Task.Delay(Timeout.InfiniteTimeSpan, end.Token)
                .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            await current.DisposeAsync().ConfigureAwait(false);
            while (true)
            {
                if (_stop.IsCancellationRequested) return;
                try
                {
                    current = await WriteAsync(_stop.Token).ConfigureAwait(false);
                    break;
                }
                catch (Exception e) when (e is CorfuException or OperationCanceledException)
                {
                    // The log does not answer: the table is late, and nothing else is.
                    await Task.Delay(s_retry, _stop.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
                }
            }
        }
    }
}

/// <summary>A front end of a service. Part of the format.</summary>
/// <param name="Urls">Addresses for clients.</param>
internal sealed record ServedMember(ulong Id, string Name, ImmutableArray<string> Urls);

[JsonSerializable(typeof(ServedMember))]
internal sealed partial class MemberJson : JsonSerializerContext;
