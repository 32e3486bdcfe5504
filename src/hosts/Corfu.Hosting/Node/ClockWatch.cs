using Corfu.Agent;

namespace Corfu.Hosting;

/// <summary>Compares the clocks of the cluster's other processes with this one's. Certificates need clocks that agree;
/// nothing else does.</summary>
internal sealed class ClockWatch(ITransport transport, Func<AgentReport?> agent, TimeProvider time)
{
    // A process that drifts by a second in this time is broken in any case.
    internal static readonly TimeSpan Interval = TimeSpan.FromSeconds(30);

    // Until the agent has met the others.
    internal static readonly TimeSpan FirstInterval = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan AnswerTimeout = TimeSpan.FromSeconds(2);

    private volatile IReadOnlyDictionary<NodeEndpoint, TimeSpan> _offsets = new Dictionary<NodeEndpoint, TimeSpan>();

    /// <summary>How far the clock of each process that answered is ahead of this one's.</summary>
    public IReadOnlyDictionary<NodeEndpoint, TimeSpan> Offsets => _offsets;

    public async Task RunAsync(CancellationToken stopped)
    {
        try
        {
            while (true)
            {
                await Task.Delay(_offsets.Count == 0 ? FirstInterval : Interval, time, stopped);
                await ReadAsync(stopped);
            }
        }
        catch (OperationCanceledException) when (stopped.IsCancellationRequested)
        {
            // The node ends.
        }
    }

    private async Task ReadAsync(CancellationToken stopped)
    {
        var offsets = new Dictionary<NodeEndpoint, TimeSpan>();
        // The agent names itself first.
        foreach (var node in agent()?.Info.Nodes.Skip(1).Take(BoundedValues.Nodes) ?? [])
        {
            if (node is not { Role: NodeRole.Agent, Health: NodeHealth.Alive or NodeHealth.Slow }) continue;
            if (await OffsetOfAsync(node.Address, stopped) is { } offset) offsets[node.Address.Endpoint] = offset;
        }

        _offsets = offsets;
    }

    private async Task<TimeSpan?> OffsetOfAsync(NodeAddress process, CancellationToken stopped)
    {
        using var limit = new CancellationTokenSource(AnswerTimeout, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(limit.Token, stopped);
        try
        {
            var asked = time.GetTimestamp();
            var answer = await transport.CallAsync(process, new ProcessInfoRequest(Epoch.None), either.Token);
            // The answer was made about the middle of the round trip.
            return answer.Process is { } other
                ? other.Now + (time.GetElapsedTime(asked) / 2) - time.GetUtcNow()
                : null;
        }
        catch (Exception e) when (e is CorfuException
            || (e is OperationCanceledException && limit.IsCancellationRequested))
        {
            return null;
        }
    }
}
