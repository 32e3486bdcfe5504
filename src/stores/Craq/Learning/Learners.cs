using Craq.Agent;
using Craq.Coordination;
using Craq.Storage;

namespace Craq.Learning;

/// <summary>The chains that a node learns. Called by its agent, on one loop.</summary>
/// <param name="loops">Runs the learners: beside the agent's loop, which has probes to answer.</param>
internal sealed class Learners(CraqHandler handler, INodeStore store, IChainDirectory directory, ITransport transport,
    TimeProvider time, CraqNodeOptions options, LoopContext loops) : ILearners, IAsyncDisposable
{
    private readonly SortedDictionary<ChainId, (Learner Learner, Task Running)> _learners = [];

    public IReadOnlyCollection<ChainId> Chains => _learners.Keys;

    public void Learn(ImmutableArray<LearnedChain> chains)
    {
        foreach (var (id, (learner, running)) in _learners.ToArray())
        {
            if (chains.All(chain => chain.Chain != id)) learner.Stop();
            if (!running.IsCompleted) continue;
            _learners.Remove(id);
            // A fault of the code: the agent's loop reports it, and the chain is learnt anew.
            running.GetAwaiter().GetResult();
        }

        foreach (var (id, index) in chains)
        {
            if (!_learners.TryGetValue(id, out var known))
            {
                var learner = new Learner(handler, store, directory, transport, time, options, id) { Index = index };
                known = (learner, loops.RunAsync(learner.RunAsync));
                _learners.Add(id, known);
            }

            known.Learner.Index = index;
        }
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var (learner, _) in _learners.Values) learner.Stop();
        await Task.WhenAll(_learners.Values.Select(learner => learner.Running));
    }
}
