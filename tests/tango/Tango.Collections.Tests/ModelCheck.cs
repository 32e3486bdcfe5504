using CsCheck;

namespace Tango.Collections.Tests;

/// <summary>
/// Random operations on an object and on the .NET type of the same shape. One that fails is shrunk, and CsCheck prints
/// the operations and the seed that repeats them.
/// </summary>
/// <param name="read">All that the object holds; the same as <paramref name="expect"/> gives of the model.</param>
internal sealed class ModelCheck<TObject, TModel>(
    Gen<Step<TObject, TModel>> steps, Func<TModel> newModel, Func<TObject, Task<object?>> read,
    Func<TModel, object?> expect)
    where TObject : TangoObject, ITangoObject<TObject>
{
    private const int Runtimes = 3;
    private static readonly TransactionOptions s_explicit = new() { Explicit = true };

    /// <summary>Each operation answers as the model does, and leaves what the model holds; so does one that plays it
    /// all later.</summary>
    public Task SequentialAsync() => steps.Array[1, 30].SampleAsync(
        async run =>
        {
            await using var cluster = new Cluster();
            TObject actual = await cluster.OpenAsync<TObject>();
            TModel model = newModel();
            foreach (Step<TObject, TModel> step in run)
            {
                Assert.Equal(step.Expect(model), await step.RunAsync(actual));
                await CompareAsync(actual, model);
            }

            await CompareAsync(await cluster.OpenAsync<TObject>(), model);
        },
        iter: 40, threads: 1, print: Print);

    /// <summary>
    /// Several runtimes have transactions open at once. The model, given those that committed in the order of their
    /// versions, answers as they were answered, and all runtimes end with what it holds.
    /// </summary>
    public async Task ConcurrentAsync()
    {
        int committed = 0, aborted = 0;
        Gen<Step<TObject, TModel>?> stepOrEnd =
            Gen.Frequency((3, steps.Select(step => (Step<TObject, TModel>?)step)),
                (1, Gen.Const(() => (Step<TObject, TModel>?)null)));
        await Gen.Select(Gen.Int[0, Runtimes - 1], stepOrEnd).Array[1, 60].SampleAsync(
            async schedule =>
            {
                await using var cluster = new Cluster();
                var clients = new Client[Runtimes];
                for (int i = 0; i < Runtimes; i++)
                {
                    TangoRuntime runtime = cluster.NewRuntime();
                    clients[i] = new Client(runtime, await runtime.OpenAsync<TObject>("object", OpenMode.Create));
                }

                foreach ((int client, Step<TObject, TModel>? step) in schedule)
                    await (step is null ? clients[client].EndAsync() : clients[client].RunAsync(step));
                foreach (Client client in clients) await client.EndAsync();

                TModel model = newModel();
                foreach (Committed transaction in clients.SelectMany(c => c.Committed).Order())
                {
                    foreach ((Step<TObject, TModel> step, object? answer) in transaction.Steps)
                        Assert.Equal(step.Expect(model), answer);
                }

                foreach (Client client in clients) await CompareAsync(client.Object, model);
                await CompareAsync(await cluster.OpenAsync<TObject>(), model);
                committed += clients.Sum(c => c.Committed.Count);
                aborted += clients.Sum(c => c.Aborted);
            },
            iter: 40, threads: 1,
            print: schedule => string.Join("; ", schedule.Select(s => $"{s.Item1}: {s.Item2?.Text ?? "end"}")));
        // Else nothing was found out.
        Assert.True(committed > 0 && aborted > 0, $"{committed} committed, {aborted} aborted");
    }

    private static string Print(Step<TObject, TModel>[] run) => string.Join("; ", run.Select(step => step.Text));

    private async Task CompareAsync(TObject actual, TModel model) =>
        Assert.Equal(expect(model), await read(actual));

    /// <summary>A commit without writes stands before the first position that its snapshot did not see.</summary>
    private sealed record Committed(RecordVersion Version, IReadOnlyList<(Step<TObject, TModel>, object?)> Steps)
        : IComparable<Committed>
    {
        // A rejected call is told at once, and is not among the writes.
        private bool Writes => Steps.Any(s =>
            s.Item1.Writes && s.Item2 is not Rejection && s.Item2 is null or not TreeOutcome or TreeOutcome.Done);

        public int CompareTo(Committed? other) =>
            (Version, Writes).CompareTo((other!.Version, other.Writes));
    }

    /// <summary>A runtime and its open transaction.</summary>
    private sealed class Client(TangoRuntime runtime, TObject actual)
    {
        private TangoTransaction? _open;
        private List<(Step<TObject, TModel>, object?)> _steps = [];

        public TObject Object => actual;

        public List<Committed> Committed { get; } = [];

        public int Aborted { get; private set; }

        public async Task RunAsync(Step<TObject, TModel> step)
        {
            _open ??= runtime.BeginTx(s_explicit);
            _steps.Add((step, await step.RunAsync(_open.Use(actual))));
        }

        public async Task EndAsync()
        {
            if (_open is null) return;
            await using TangoTransaction ended = _open;
            (_open, var steps, _steps) = (null, _steps, []);
            switch (await ended.EndTxAsync())
            {
                case TxOutcome.Committed committed:
                    Committed.Add(new Committed(committed.Version, steps));
                    break;
                case TxOutcome.Aborted:
                    Aborted++;
                    break;
                case var other:
                    Assert.Fail($"{other}");
                    break;
            }
        }
    }
}
