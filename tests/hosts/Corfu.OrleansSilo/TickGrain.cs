using Orleans;
using Orleans.GrainDirectory;
using Orleans.Runtime;

namespace Corfu.OrleansSilo;

/// <summary>Counts how often its reminder came.</summary>
public interface ITickGrain : IGrainWithStringKey
{
    Task StartAsync(TimeSpan period);

    Task<bool> StopAsync();

    Task<int> CountAsync();

    /// <summary>The silo on which it is activated.</summary>
    Task<string> WhereAsync();
}

[GenerateSerializer]
public sealed class TickState
{
    [Id(0)]
    public int Count { get; set; }
}

[GrainDirectory(GrainDirectories.Corfu)]
public sealed class TickGrain(
    [PersistentState("ticks")] IPersistentState<TickState> ticks, ILocalSiloDetails silo)
    : Grain, ITickGrain, IRemindable
{
    private const string Name = "tick";

    public Task StartAsync(TimeSpan period) => this.RegisterOrUpdateReminder(Name, TimeSpan.Zero, period);

    public async Task<bool> StopAsync()
    {
        if (await this.GetReminder(Name) is not { } reminder) return false;
        await this.UnregisterReminder(reminder);
        return true;
    }

    public Task<int> CountAsync() => Task.FromResult(ticks.State.Count);

    public Task<string> WhereAsync() => Task.FromResult(silo.SiloAddress.ToParsableString());

    public async Task ReceiveReminder(string reminderName, TickStatus status)
    {
        ticks.State.Count++;
        try
        {
            await ticks.WriteStateAsync();
        }
        catch
        {
            DeactivateOnIdle();
            throw;
        }
    }
}
