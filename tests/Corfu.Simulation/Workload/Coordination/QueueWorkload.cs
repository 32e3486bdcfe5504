using Corfu.Simulation.Checkers;
using Corfu.Simulation.Cluster;
using Corfu.Simulation.Kernel;
using Tango;
using Tango.Collections;

namespace Corfu.Simulation.Workload.Coordination;

/// <summary>Shares the items of a queue. In the end the queue is worked off.</summary>
internal sealed class QueueWorkload(SeedPlan plan, CoordinationHistory history, ClusterMonitor monitor, Ledger ledger)
    : IWorkload<CoordinationClient>
{
    private const int LastReceivers = 3;

    public IEnumerable<WorkloadAction<CoordinationClient>> Actions =>
    [
        new(30, ConsumeAsync, writes: true),
        new(25, (client, _) => EnqueueAsync(client), writes: true),
    ];

    public async Task SettleAsync(CoordinationClient client)
    {
        while (await client.Queue.CountAsync() + await client.Queue.DeliveredAsync() > 0)
        {
            await using Delivery<string>? delivery = await client.Queue.TryReceiveAsync(plan.LeaseTime);
            if (delivery is null) await Task.Delay(plan.LeaseTime, client.Time);
            else await DoAsync(client, delivery);
        }

        await CallReceiversAsync(client);
        history.Dead.UnionWith((await client.Queue.DeadLettersAsync()).Values);
    }

    public async Task CheckAsync(CoordinationClient client)
    {
        await client.ReadChangesAsync(CoordinationClient.QueueName, history.QueueChanges);
        await client.ReadChangesAsync(CoordinationClient.DoneName, history.DoneChanges);
    }

    private async Task ConsumeAsync(CoordinationClient client, SimRandom random)
    {
        using var enough = new CancellationTokenSource(plan.LeaseTime * 2, client.Time);
        try
        {
            await using Delivery<string> delivery = await client.Queue.ReceiveAsync(plan.LeaseTime, enough.Token);
            Done(delivery.Attempt > 1 ? "item delivered again" : "item delivered");
            if (random.Chance(0.3)) await Task.Delay(plan.LeaseTime * random.NextDouble(), client.Time);
            if (random.Chance(0.1)) await client.Queue.AbandonAsync(delivery);
            else if (random.Chance(0.9)) await DoAsync(client, delivery);
        }
        catch (TangoRejectedException)
        {
            monitor.Mark("delivery was over");
        }
        catch (OperationCanceledException) when (enough.IsCancellationRequested)
        {
            monitor.Mark("nothing to receive");
        }
    }

    private async Task DoAsync(CoordinationClient client, Delivery<string> delivery)
    {
        TxOutcome outcome = await client.Runtime.RunTransactionAsync(async _ =>
        {
            await client.Queue.CompleteAsync(delivery);
            await client.Done.AddAsync(delivery.Value);
        });
        if (outcome.IsCommitted) history.ToldDone.Add(delivery.Value);
        Done("item done");
    }

    /// <summary>Receivers wait in line before there are items: each is called by one that is added, or given back. A
    /// wake-up that is lost keeps the audit from its end.</summary>
    private async Task CallReceiversAsync(CoordinationClient client)
    {
        Task[] receiving =
            [.. Enumerable.Range(0, LastReceivers).Select(i => ReceiveAndDoAsync(client, givesBack: i == 0))];
        await client.Queue.WaitForAsync(
            static (queue, token) => queue.WaitingAsync(token), static waiting => waiting >= LastReceivers);
        for (int i = 0; i < LastReceivers; i++) await EnqueueAsync(client);
        await Task.WhenAll(receiving);
    }

    private async Task ReceiveAndDoAsync(CoordinationClient client, bool givesBack)
    {
        if (givesBack)
        {
            await using Delivery<string> unwanted = await client.Queue.ReceiveAsync(plan.LeaseTime);
            await client.Queue.AbandonAsync(unwanted);
        }

        await using Delivery<string> delivery = await client.Queue.ReceiveAsync(plan.LeaseTime);
        await DoAsync(client, delivery);
    }

    private async Task EnqueueAsync(CoordinationClient client)
    {
        string value = $"i{ledger.NextPayload()}";
        await client.Queue.EnqueueAsync(value);
        history.Added.Add(value);
        Done("item added");
    }

    private void Done(string what)
    {
        monitor.Mark(what);
        ledger.Done();
    }
}
