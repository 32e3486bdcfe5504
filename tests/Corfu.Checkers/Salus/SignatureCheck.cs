namespace Corfu.Checkers;

/// <summary>The signatures of members (`unanimous`): a correct member signs one content for an index, nothing for a
/// generation that has ended, and prepares in none that was not admitted (`one-generation`), and every certificate that
/// counts has the signatures of all members of its generation.</summary>
public sealed class SignatureCheck
{
    private readonly Dictionary<(string Region, long Generation, long Index), (string Content, string By)> _logged = [];
    private readonly Dictionary<(string Region, long Generation), IReadOnlyList<string>> _members = [];

    // By region, the newest generation that is recorded as recovered.
    private readonly Dictionary<string, long> _opened = [];
    private readonly HashSet<(string Signer, string Region, long Generation, string Statement)> _signed = [];

    private readonly HashSet<(string Region, long Generation)> _admitted = [];

    public void Recorded(string region, long generation, IReadOnlyList<string> members) =>
        _members[(region, generation)] = members;

    public void Opened(string region, long generation) =>
        _opened[region] = Math.Max(generation, _opened.GetValueOrDefault(region));

    /// <summary>A generation may commit batches.</summary>
    public void Admitted(string region, long generation) => _admitted.Add((region, generation));

    /// <summary>A correct member counts a batch as prepared.</summary>
    public Violation? Prepared(string by, string region, long generation, string batch) =>
        _admitted.Contains((region, generation))
            ? null
            : new Violation(CheckerNames.OneGeneration,
                $"{by} prepares {batch} of {region} in generation {generation}, which was not admitted");

    /// <summary>A correct member has signed; repetitions count once.</summary>
    /// <param name="statement">All that is signed, for people.</param>
    public Violation? Signed(string signer, string region, long generation, string statement)
    {
        if (!_signed.Add((signer, region, generation, statement))) return null;
        if (_members.TryGetValue((region, generation), out var members) && !members.Contains(signer))
        {
            return new Violation(CheckerNames.Unanimous,
                $"{signer} signs {statement} of {region} in generation {generation}, and is no member");
        }

        return _opened.GetValueOrDefault(region) > generation
            ? new Violation(CheckerNames.OneGeneration,
                $"{signer} signs {statement} of {region} in generation {generation}, and {_opened[region]} has opened")
            : null;
    }

    /// <summary>A correct member has signed that an index holds a content.</summary>
    public Violation? Logged(string signer, string region, long generation, long index, string content)
    {
        if (Signed(signer, region, generation, $"index {index} ({content})") is { } fault) return fault;
        if (_logged.TryAdd((region, generation, index), (content, signer))) return null;
        var (other, by) = _logged[(region, generation, index)];
        return other == content
            ? null
            : new Violation(CheckerNames.Unanimous,
                $"index {index} of {region} in generation {generation} is {other} for {by} and {content} for {signer}");
    }

    /// <summary>A correct member has acted upon a certificate.</summary>
    /// <param name="signers">Members whose signatures are valid.</param>
    public Violation? Counted(
        string by, string region, long generation, string statement, IReadOnlyCollection<string> signers)
    {
        if (!_members.TryGetValue((region, generation), out var members))
        {
            return new Violation(CheckerNames.Unanimous,
                $"{by} counts {statement} of {region} in generation {generation}, which is recorded nowhere");
        }

        string[] missing = [.. members.Where(member => !signers.Contains(member))];
        return missing.Length == 0
            ? null
            : new Violation(CheckerNames.Unanimous,
                $"{by} counts {statement} of {region} in generation {generation} without {string.Join(", ", missing)}");
    }
}
