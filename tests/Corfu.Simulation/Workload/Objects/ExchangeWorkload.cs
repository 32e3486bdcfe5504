using Corfu.Simulation.Kernel;

namespace Corfu.Simulation.Workload.Objects;

/// <summary>Calls that return what they replace (R16).</summary>
internal sealed class ExchangeWorkload(TxRecorder recorder) : ITangoWorkload
{
    public IEnumerable<WorkloadAction<TangoClient>> Actions => [new(7, ExchangeAsync, writes: true)];

    private Task ExchangeAsync(TangoClient client, SimRandom random)
    {
        int register = random.Next(client.Registers.Length);
        var op = new TxAttempt(recorder, client.Number);
        string value = op.Write($"r{register}", 0);
        return op.CallAsync(
            async () => op.Read($"r{register}", await client.Registers[register].ExchangeAsync(value)));
    }
}
