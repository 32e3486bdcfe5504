using Orleans;
using Orleans.GrainDirectory;
using Orleans.Runtime;

namespace Corfu.OrleansSilo;

public static class GrainDirectories
{
    public const string Corfu = "corfu";
}

/// <summary>Remembers operations. One that is sent again is remembered once.</summary>
public interface ILedgerGrain : IGrainWithStringKey
{
    Task AddAsync(int operation);

    Task<List<int>> ListAsync();

    /// <summary>The silo on which it is activated.</summary>
    Task<string> WhereAsync();
}

[GenerateSerializer]
public sealed class LedgerState
{
    [Id(0)]
    public List<int> Operations { get; set; } = [];
}

[GrainDirectory(GrainDirectories.Corfu)]
public sealed class LedgerGrain(
    [PersistentState("ledger")] IPersistentState<LedgerState> ledger, ILocalSiloDetails silo) : Grain, ILedgerGrain
{
    public async Task AddAsync(int operation)
    {
        if (ledger.State.Operations.Contains(operation)) return;
        ledger.State.Operations.Add(operation);
        try
        {
            await ledger.WriteStateAsync();
        }
        catch
        {
            // The next activation reads what is stored.
            DeactivateOnIdle();
            throw;
        }
    }

    public Task<List<int>> ListAsync() => Task.FromResult(ledger.State.Operations);

    public Task<string> WhereAsync() => Task.FromResult(silo.SiloAddress.ToParsableString());
}
