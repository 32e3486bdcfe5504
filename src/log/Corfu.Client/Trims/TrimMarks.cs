namespace Corfu.Client;

/// <summary>Brings the log's trim mark to its units.</summary>
internal sealed class TrimMarks(UnitCalls units, ChainReplication chains)
{
    /// <summary>Brings the mark to every unit concerned, whatever is granted.</summary>
    public async ValueTask<Status> PropagateAsync(
        EpochView view, LogPosition below, CancellationToken cancellationToken)
    {
        var request = new TrimPrefixRequest(view.Epoch, below);
        foreach (var stage in Stages(view.Projection, below))
        {
            var calls = stage.ConvertAll(unit => units.CallAsync(view, unit, request, cancellationToken).AsTask());
            var answers = await Task.WhenAll(calls);
            for (var i = 0; i < answers.Length; i++)
            {
                if (!answers[i].IsOk) return answers[i].Status;
                chains.Propagated(stage[i], below);
            }
        }

        return Status.Ok;
    }

    /// <summary>The units in stages; those of one stage get the mark at once. R13: the mark may lie above everything
    /// written, and the next epoch must not begin below a mark that any unit has, or positions granted anew would be
    /// trimmed already. Therefore no unit gets it before those in front of it in an active chain: the first survivor
    /// that answers the seal has the highest mark.</summary>
    private static List<List<NodeId>> Stages(Projection projection, LogPosition below)
    {
        List<List<NodeId>> stages = [];
        var named = new HashSet<NodeId>();
        var active = projection.Active.From < below ? projection.Active.Chains : [];
        for (var place = 0; active.Any(c => place < c.Replicas.Length); place++)
            Add(active.Where(c => place < c.Replicas.Length).Select(c => c.Replicas[place].Unit));

        Add(
            projection.Segments.Where(s => s.From < below)
                .SelectMany(s => s.Chains).SelectMany(c => c.Replicas).Select(r => r.Unit));
        return stages;

        void Add(IEnumerable<NodeId> units)
        {
            var stage = units.Where(named.Add).ToList();
            if (stage.Count > 0) stages.Add(stage);
        }
    }
}
