using Orleans;
using Orleans.Runtime;

namespace Corfu.OrleansLoad;

/// <summary>A grain whose activation reads a state.</summary>
[Alias("load.grain")]
internal interface ILoadGrain : IGrainWithStringKey
{
    /// <summary>Size of the state that its activation read.</summary>
    [Alias("size")]
    Task<int> SizeAsync();
}

internal sealed class LoadGrain(
    [PersistentState(LoadSilo.StateName, LoadSilo.Storage)] IPersistentState<LoadState> state) : Grain, ILoadGrain
{
    public Task<int> SizeAsync() => Task.FromResult(state.State.Bytes.Length);
}

[GenerateSerializer, Alias("load.state")]
internal sealed class LoadState
{
    [Id(0)]
    public byte[] Bytes { get; set; } = [];
}
