using System.Collections.Immutable;
using Corfu.Protocol;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Kernel.Network;
using Corfu.Transport;
using Craq;
using Craq.Protocol;

namespace Corfu.Simulation.Craq;

/// <summary>A machine with a client process, which calls nodes by messages of its own: it chooses the node that it
/// asks, and repeats a write as often as it likes.</summary>
internal sealed class SimCraqClient(CraqCluster cluster, int number, Func<SimCraqClient, Task> work)
{
    private readonly SortedDictionary<ChainId, ChainView> _views = [];
    private Guid _writer;
    private long _sequence;

    public string Name { get; } = $"client{number}";

    public SimProcess? Process { get; private set; }

    public SimTransport? Transport { get; private set; }

    public bool Running => Process is { Alive: true };

    /// <summary>The node that the client reads at, mostly; null: any.</summary>
    public SimCraqNode? Near { get; set; }

    /// <summary>The client writes nothing for a while: a refused write would tell it of newer configs.</summary>
    public bool OnlyReads { get; set; }

    public bool Finished { get; private set; }

    public void Start()
    {
        if (Running) return;
        Finished = false;
        var process = Process = cluster.NewProcess(Name);
        _writer = new SimEntropy(cluster.World.Random.Split($"{Name} {process.Id}")).NewGuid();
        _sequence = 0;
        _views.Clear();
        Transport = new SimTransport(cluster.World, cluster.Network, cluster.Internet, process, Name,
            cluster.Plan.RequestTimeout, AccessRole.Client);
        process.Start("work", async () =>
        {
            await work(this);
            Finished = true;
        });
    }

    public void Kill() => Process?.Kill();

    /// <summary>The client reads and writes where it likes.</summary>
    public void Free() => (Near, OnlyReads) = (null, false);

    public Guid NextTransaction() => new(
        [.. _writer.ToByteArray().AsSpan(0, 8), .. BitConverter.GetBytes(++_sequence)]);

    public WriteId NextId() => new(_writer, ++_sequence);

    /// <summary>The chain's config as this client knows it; asks until some node answers.</summary>
    public async Task<ChainView> ViewOfAsync(ChainId chain, SimRandom random)
    {
        while (!_views.ContainsKey(chain))
        {
            await AskAsync(chain, random.Pick(cluster.Nodes).Address);
            if (!_views.ContainsKey(chain)) await Task.Delay(TimeSpan.FromMilliseconds(5), Process!.Time);
        }

        return _views[chain];
    }

    /// <summary>Asks some node for a newer config.</summary>
    public Task RefreshAsync(ChainId chain, SimRandom random) => AskAsync(chain,
        (Near is { } near && random.Chance(0.9) ? near : random.Pick(cluster.Nodes)).Address);

    /// <returns>Null: no answer came, and the request may have been carried out.</returns>
    public async Task<TResponse?> CallAsync<TResponse>(NodeAddress to, Request<TResponse> request)
        where TResponse : Response
    {
        try
        {
            var answer = await Transport!.CallAsync(to, request, default);
            Learn(answer switch
            {
                ReadObjectsResponse read => read.View,
                MutateResponse mutate => mutate.View,
                TransactResponse transact => transact.View,
                _ => null,
            });
            return answer;
        }
        catch (TransportException e) when (!e.OutcomeUnknown)
        {
            return (TResponse)request.Fail(Status.Overloaded, Epoch.None);
        }
        catch (TransportException)
        {
            return null;
        }
    }

    private async Task AskAsync(ChainId chain, NodeAddress node)
    {
        var answer = await CallAsync(node, new ChainsRequest(Epoch.None, [chain], []));
        if (answer is not { IsOk: true }) return;
        foreach (var view in answer.Views) Learn(view);
    }

    private void Learn(ChainView? view)
    {
        if (view is null) return;
        if (!_views.TryGetValue(view.Config.Id, out var known) || known.Config.Epoch < view.Config.Epoch)
            _views[view.Config.Id] = view;
    }
}
