using Corfu.WebConsole.Collecting;

namespace Corfu.WebConsole.Views;

/// <summary>Words about a process. A process that does not answer is never called dead here: that is the word of
/// agents, and their number stands beside it.</summary>
public static class ProcessWords
{
    public static Tone ToneOf(ClusterPicture picture, ProcessPicture process)
    {
        if (process.IsSilent(picture.At)) return Tone.Unknown;
        if (process.AnsweredAt is null) return Tone.Unknown;
        if (process.Roles.Any(static role => !role.Answer.Answers || role.Answer.Refusal is not null)) return Tone.Bad;
        // A process that answers here is not in a bad way because some agents do not see it.
        var isDoubted = WordsOf(picture, process)
            .Any(static word => Wording.Of(word.Report.Health) is Tone.Warn or Tone.Bad);
        return isDoubted || process.Roles.Any(static role => role.Answer.Warning is not null)
            ? Tone.Warn
            : Tone.Good;
    }

    public static string RolesOf(ClusterPicture picture, ProcessPicture process)
    {
        var roles = process.Roles.Where(static role => role.Role != NodeRole.Agent)
            .Select(role => $"{Wording.Word(role.Role)}{Mark(picture.Projection, role)}").ToList();
        return roles.Count > 0 ? string.Join(", ", roles) : "roles not known";
    }

    public static string StateOf(ClusterPicture picture, ProcessPicture process)
    {
        if (process.IsSilent(picture.At) || process.AnsweredAt is null)
        {
            var silence = $"no answer from here for {Say.Age(process.SilentFor(picture.At))}";
            return AgentsOn(picture, process) is { } words ? $"{silence}; {words}" : silence;
        }

        var parts = process.Roles.Select(role => PartOf(picture.Projection, role))
            .Where(static part => part.Length > 0).ToList();
        if (AgentsOn(picture, process) is { } heard) parts.Add(heard);
        return parts.Count > 0 ? string.Join("; ", parts) : "answers";
    }

    /// <summary>The agents' words where they are not all "alive"; null: they are.</summary>
    public static string? AgentsOn(ClusterPicture picture, ProcessPicture process)
    {
        // An agent judges every role of a process: of its words about one process the gravest counts.
        var words = WordsOf(picture, process)
            .GroupBy(static word => word.Agent)
            .Select(static group => group.MaxBy(static word => Gravity(word.Report.Health))!)
            .ToList();
        var grave = words.Where(static word => word.Report.Health is not (NodeHealth.Alive or NodeHealth.Unknown))
            .GroupBy(static word => word.Report.Health).ToList();
        return grave.Count == 0
            ? null
            : string.Join(", ", grave.Select(group =>
                $"{group.Count()} of {Say.Count(words.Count, "agent")}: {Wording.Word(group.Key)}"));
    }

    private static IEnumerable<AgentWord> WordsOf(ClusterPicture picture, ProcessPicture process) =>
        from other in picture.Processes
        where other.Agent is not null && other.Endpoint != process.Endpoint && !other.IsSilent(picture.At)
        from report in other.Agent!.Nodes
        where report.Address.Endpoint == process.Endpoint && report.Duty != NodeDuty.Removed
        select new AgentWord(other.Endpoint, report, other.AnsweredAt ?? picture.At);

    private static string Mark(Projection? projection, RolePicture role) => role.Role switch
    {
        NodeRole.Sequencer when projection?.Sequencer.Id == role.Id => " (grants)",
        NodeRole.Sequencer => " (stands by)",
        NodeRole.Unit when projection is not null && !projection.HasUnit(role.Id) =>
            role.Answer.IsFresh ? " (spare)" : " (removed)",
        NodeRole.Acceptor when projection?.Acceptors.Any(acceptor => acceptor.Id == role.Id) == false => " (stands by)",
        _ => "",
    };

    private static string PartOf(Projection? projection, RolePicture role)
    {
        if (!role.Answer.Answers) return $"{Wording.Word(role.Role)}: {role.Answer.Detail}";
        if (role.Answer.Refusal is { } refusal) return $"{Wording.Word(role.Role)} takes no entries: {refusal}";
        if (role.Unit is not { IsOk: true } unit) return "";
        var joins = projection?.Segments.Any(segment => segment.Chains.Any(chain => chain.Replicas.Any(
            replica => replica.Unit == role.Id && replica.Joining))) == true;
        var pages = $"{Say.Number(unit.Pages)} pages, {Say.Bytes(unit.StoredBytes)}";
        return $"{pages}{(joins ? ", joins" : "")}{(role.Answer.Warning is { } warning ? $"; {warning}" : "")}";
    }

    private static int Gravity(NodeHealth health) => health switch
    {
        NodeHealth.Unknown => 0,
        NodeHealth.Alive => 1,
        NodeHealth.Dead => 9,
        _ => (int)health,
    };
}
