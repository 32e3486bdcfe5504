using System.Globalization;
using System.Text;
using NamenodeSample.Serving;
using NamenodeSample.Tree;

namespace NamenodeSample.Run;

/// <summary>Compares what clients have heard, and what namenodes have, with the <see cref="Model"/>.</summary>
/// <remarks>
/// An answer names its edit, so that the answers alone give the order in which the model does the operations. Edits
/// must be without a gap, and each of one operation. An operation must stand behind all that was answered before it
/// was begun: with the model's outcomes this is linearizability of changes, refusals and reads.
/// </remarks>
internal sealed class Judge
{
    private const int MaxFaults = 10;

    private readonly Model _model = new();
    private readonly List<string> _faults = [];

    public long LastId => _model.LastId;

    public int Paths => _model.Paths;

    /// <summary>Operations that were acknowledged, and that no namenode knows or another took the place of.</summary>
    public long Lost { get; private set; }

    public bool IsMatch => _faults.Count == 0 && Lost == 0;

    public IEnumerable<string> Faults => _faults.Take(MaxFaults);

    /// <summary>Plays answers to operations that are all ended, behind those of the calls before.</summary>
    public void Play(IEnumerable<Answer> answers)
    {
        foreach (IGrouping<long, Answer> edit in answers.GroupBy(static answer => answer.Id).OrderBy(static e => e.Key))
        {
            Answer[] changes = [.. edit.Where(static answer => answer.Kind is Answers.Done or Answers.Before)];
            if (changes.Length > 0) PlayEdit(edit.Key, changes);
            foreach (Answer other in edit.Except(changes)) PlayOther(other);
        }
    }

    /// <summary>Compares a namenode's tree.</summary>
    /// <returns>The digest.</returns>
    public string Compare(string namenode, string printed)
    {
        string expected = _model.Print();
        string digest = NamespaceTree.DigestOf(printed);
        if (digest == NamespaceTree.DigestOf(expected) && printed == expected) return digest;
        long last = printed.Split(' ', 3) is ["last", var id, _] ? long.Parse(id, CultureInfo.InvariantCulture) : 0;
        if (last < LastId)
        {
            Lost = Math.Max(Lost, LastId - last);
            Fault($"{namenode} has edits up to {last}, not {LastId}");
        }

        string[] told = printed.Split('\n');
        string[] right = expected.Split('\n');
        foreach (string line in told.Except(right).Take(2)) Fault($"{namenode} has '{line}', the model has not");
        foreach (string line in right.Except(told).Take(2)) Fault($"{namenode} has not '{line}'");
        if (told.ToHashSet().SetEquals(right)) Fault($"{namenode} tells its tree in another order");
        return digest;
    }

    public static string Decode(string base64) => Encoding.UTF8.GetString(Convert.FromBase64String(base64));

    private void PlayEdit(long id, Answer[] changes)
    {
        Answer first = changes[0];
        if (id != _model.LastId + 1)
        {
            // Below: an edit that a check before had counted was given again.
            if (id <= _model.LastId) Lost += changes.Length;
            Fault($"{first} follows on edit {_model.LastId}");
            return;
        }

        if (changes.Length > 1)
        {
            Lost += changes.Length - 1;
            Fault($"One edit for two operations: {changes[1]}; {first}");
        }

        if (id <= first.Known) Fault($"{first}, when edit {first.Known} was known");
        Outcome outcome = _model.Do(first.Client, first.Number, first.Operation);
        if (!outcome.IsDone || outcome.Text != first.Text) Fault($"{first}; the model says {outcome.Text}");
    }

    private void PlayOther(Answer answer)
    {
        if (answer.Id < answer.Known) Fault($"{answer}, when edit {answer.Known} was known");
        if (answer.Id != _model.LastId)
        {
            Fault($"{answer}, where the model has edit {_model.LastId}");
            return;
        }

        // A change that the model does here is wrong, and is told by the outcome.
        Outcome outcome = _model.Do(answer.Client, answer.Number, answer.Operation);
        bool isRight = answer.Kind == Answers.Read ? outcome.IsDone : !outcome.IsDone;
        if (!isRight || outcome.Text != answer.Text) Fault($"{answer}; the model says {outcome.Text}");
    }

    private void Fault(string text) => _faults.Add(text);
}
