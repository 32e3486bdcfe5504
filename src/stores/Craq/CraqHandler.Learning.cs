using Craq.Chains;

namespace Craq;

/// <summary>Chains that the node learns.</summary>
internal sealed partial class CraqHandler
{
    /// <summary>As <see cref="WithChain"/>, for a chain that the node may hold nothing of yet.</summary>
    /// <returns>False: the node has no room for another chain, or the chain is dropped.</returns>
    internal bool WithNewChain(ChainId chain, Action<ChainCore, ChainEffects> step)
    {
        lock (_gate)
        {
            if (_failed) return false;
            if (Find(chain) is null)
            {
                if (_chains.Count >= _options.MaxChains || !MayHold(chain)) return false;
                Add(chain);
            }
        }

        return WithChain(chain, step);
    }

    /// <summary>The config, with the endpoints of its members as the directory has them.</summary>
    internal ChainView Locate(ChainConfig config) => WithEndpoints(config);
}
