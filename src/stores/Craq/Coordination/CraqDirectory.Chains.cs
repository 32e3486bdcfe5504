using System.Numerics;

namespace Craq.Coordination;

/// <summary>Chains and keyspaces.</summary>
internal sealed partial class CraqDirectory
{
    private ChangeOutcome ApplyCreateChain(string name, Placement placement, ChainOptions options)
    {
        if (!PlacementRules.IsName(name)) return Refuse($"a chain's name has 1 to {ChainConfig.MaxName} bytes");
        if (PlacementRules.Fault(placement) is { } fault) return Refuse(fault);
        var id = ChainId.FromName(name);
        if (_chains.TryGetValue(id, out var known)) return new ChangeOutcome($"there is a chain {name}", known);
        if (_dropped.Contains(id))
            return Refuse($"a chain {name} was dropped, and nodes may still hold its records: take another name");
        if (_chains.Count >= MaxChains)
            return Refuse($"the directory has {MaxChains} chains, its most: share chains between more keys");
        var members = PlacementRules.Wish(placement, id,
            _nodes.Values.Where(static node => node.State == DirectoryNodeState.Active));
        var (state, refusal) = ChainRules.Create(id, name, placement, options, members);
        return state is null ? Refuse(refusal!) : Set(state);
    }

    private ChangeOutcome ApplyTryChange(ChainId chain, Epoch expected, ChainChange change)
    {
        if (StateOf(chain) is not { } state) return Refuse($"there is no chain {chain}");
        var (next, refusal) = ChainRules.Change(state, expected, change, _nodes);
        return refusal is null ? Set(next) : new ChangeOutcome(refusal, state.Config);
    }

    private void ApplyOpened(ChainId chain, Epoch epoch)
    {
        // An epoch that a change has replaced since is not the base of that change (C8).
        if (StateOf(chain) is { Config.IsRecordedOpen: false } state && state.Config.Epoch == epoch)
            Set(ChainRules.Opened(state));
    }

    // A process binds itself alone: the next one of the node serves by its own lease (C7).
    private bool ApplyRelease(ChainId chain, Epoch epoch, long lease)
    {
        if (!_terms.TryGetValue(lease, out var term) || StateOf(chain) is not { } state
            || state.Config.Epoch != epoch || state.Config.IndexOf(term.Node) < 0) return false;
        if (state.MayBeLeased) _leased = _leased.SetItem(chain, ChainRules.Release(state, term.Node).Released);
        return true;
    }

    private void EndReleasesOf(NodeId node)
    {
        foreach (var (chain, released) in _leased)
        {
            if (released.Contains(node)) _leased = _leased.SetItem(chain, released.Remove(node));
        }
    }

    private ChangeOutcome ApplyDropChain(ChainId chain)
    {
        if (!_chains.TryGetValue(chain, out var config)) return Refuse($"there is no chain {chain}");
        foreach (var (name, chains) in _keyspaces)
        {
            if (chains.Contains(chain))
                return new ChangeOutcome($"the keyspace {name} uses the chain: drop the keyspace first", config);
        }

        _revision++;
        _chains = _chains.Remove(chain);
        _leased = _leased.Remove(chain);
        _dropped = _dropped.Add(chain);
        return new ChangeOutcome(null, config);
    }

    private string? ApplyCreateKeyspace(string name, ImmutableArray<ChainId> chains)
    {
        if (!PlacementRules.IsName(name)) return $"a keyspace's name has 1 to {ChainConfig.MaxName} bytes";
        if (chains.IsDefaultOrEmpty || chains.Length > ChainsRequest.MaxChains || !BitOperations.IsPow2(chains.Length))
            return $"a keyspace has 1, 2, 4 or another power of two of chains, up to {ChainsRequest.MaxChains}";
        if (chains.Distinct().Count() != chains.Length) return "a chain stands in the keyspace twice";
        foreach (var chain in chains)
        {
            if (!_chains.ContainsKey(chain)) return $"there is no chain {chain}: create it first";
        }

        if (_keyspaces.TryGetValue(name, out var known))
            return known.AsSpan().SequenceEqual(chains.AsSpan()) ? null : $"there is a keyspace {name} of other chains";
        if (_keyspaces.Count >= MaxKeyspaces) return $"the directory has {MaxKeyspaces} keyspaces, its most";
        _revision++;
        _keyspaces = _keyspaces.Add(name, chains);
        return null;
    }

    private bool ApplyDropKeyspace(string name)
    {
        if (!_keyspaces.ContainsKey(name)) return false;
        _revision++;
        _keyspaces = _keyspaces.Remove(name);
        return true;
    }

    private ChainState? StateOf(ChainId chain)
    {
        if (!_chains.TryGetValue(chain, out var config)) return null;
        return _leased.TryGetValue(chain, out var released)
            ? new ChainState(config, true, released)
            : new ChainState(config, false, []);
    }

    private ChangeOutcome Set(ChainState state)
    {
        var chain = state.Config.Id;
        _revision++;
        _chains = _chains.SetItem(chain, state.Config);
        _leased = state.MayBeLeased ? _leased.SetItem(chain, state.Released) : _leased.Remove(chain);
        return new ChangeOutcome(null, state.Config);
    }

    private static ChangeOutcome Refuse(string why) => new(why, null);
}
