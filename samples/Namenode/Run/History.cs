using NamenodeSample.Serving;

namespace NamenodeSample.Run;

/// <summary>The answers that clients have heard. Any thread.</summary>
internal sealed class History
{
    private readonly Lock _gate = new();
    private List<Answer> _answers = [];
    private long _highest;
    private string _by = "";

    /// <summary>The highest edit that a client has heard of.</summary>
    public long Highest => Volatile.Read(ref _highest);

    /// <summary>The namenode that gave the newest answer.</summary>
    public string By => Volatile.Read(ref _by);

    public int InDoubt { get; private set; }

    /// <summary>Operations in doubt that had been done.</summary>
    public int InDoubtDone { get; private set; }

    /// <param name="wasInDoubt">Whether the operation was sent before, and not answered.</param>
    public void Add(Answer answer, bool wasInDoubt)
    {
        lock (_gate)
        {
            _answers.Add(answer);
            _highest = Math.Max(_highest, answer.Id);
            _by = answer.By;
            if (!wasInDoubt) return;
            InDoubt++;
            if (answer.Kind == Answers.Before) InDoubtDone++;
        }
    }

    /// <summary>The answers since the last call.</summary>
    public List<Answer> Take()
    {
        lock (_gate)
        {
            List<Answer> taken = _answers;
            _answers = [];
            return taken;
        }
    }
}
