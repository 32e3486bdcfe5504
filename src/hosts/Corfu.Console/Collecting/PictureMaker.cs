namespace Corfu.WebConsole.Collecting;

/// <summary>Puts a picture together from what the processes have told, and keeps the figures that need two
/// answers.</summary>
internal sealed class PictureMaker
{
    // Five minutes at one point a second; the stored bytes of an hour at one point each 12 s.
    private const int Points = 300;
    private static readonly TimeSpan s_answerWindow = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan s_second = TimeSpan.FromSeconds(1.1);
    private static readonly TimeSpan s_storedInterval = TimeSpan.FromSeconds(12);

    // A decided epoch is installed within moments: meanwhile its roles do not serve it, and the cluster is not down.
    private static readonly TimeSpan s_settling = TimeSpan.FromSeconds(2);

    private readonly Series _rates = new(Points);
    private readonly Series _slowAnswers = new(Points);
    private readonly Series _stored = new(Points);
    private readonly Queue<Point> _answers = new();
    private DateTimeOffset _storedAt;
    private DateTimeOffset? _epochLearntAt;
    private TailPicture? _tail;
    private ClusterVerdict? _verdict;
    private Projection? _projection;

    public ClusterPicture Make(
        DateTimeOffset now, ClusterId cluster, Projection? projection, ImmutableArray<ProcessPicture> processes)
    {
        if (projection is not null && _projection is not null && projection.Epoch > _projection.Epoch)
            _epochLearntAt = now;
        _projection = projection;
        var answering = projection?.Acceptors.Count(acceptor => IsAnswering(processes, acceptor.Id, now)) ?? 0;
        var hasMajority = projection is not null && answering * 2 > projection.Acceptors.Length;
        MeasureTail(projection, processes);
        MeasureStored(now, processes);
        return new ClusterPicture(
            now, cluster, projection, hasMajority, Judge(now, hasMajority ? projection : null, processes), processes,
            _tail, MeasureAnswers(now, processes))
        {
            Rates = _rates.ToPoints(),
            SlowAnswers = _slowAnswers.ToPoints(),
            Stored = _stored.ToPoints(),
        };
    }

    private static bool IsAnswering(ImmutableArray<ProcessPicture> processes, NodeId role, DateTimeOffset now) =>
        processes.Any(process => !process.IsSilent(now) && process.Roles.Any(
            known => known.Id == role && known.Answer.Answers));

    private ClusterVerdict? Judge(
        DateTimeOffset now, Projection? projection, ImmutableArray<ProcessPicture> processes)
    {
        if (processes.All(static process => process.AnsweredAt is null && process.Problem is null)) return _verdict;
        var verdict = ClusterVerdict.Of(projection, id => AnswerOf(processes, id, now));
        var isSettling = now - _epochLearntAt < s_settling;
        return _verdict = verdict.IsServing || !isSettling ? verdict : _verdict ?? verdict;
    }

    // A role that the projection names and no process has is a sequencer that has ended.
    private static RoleAnswer? AnswerOf(ImmutableArray<ProcessPicture> processes, NodeId role, DateTimeOffset now)
    {
        foreach (var process in processes)
        {
            if (process.Roles.FirstOrDefault(known => known.Id == role) is not { } found) continue;
            return process.IsSilent(now) ? RoleAnswer.Silent("no answer") : found.Answer;
        }

        return RoleAnswer.Silent("not running");
    }

    private void MeasureTail(Projection? projection, ImmutableArray<ProcessPicture> processes)
    {
        var told = processes.SelectMany(static process => process.Roles)
            .FirstOrDefault(role => role.Id == projection?.Sequencer.Id && role.Sequencer is { IsOk: true });
        if (told is null || told.At == _tail?.At) return;
        var tail = told.Sequencer!.Tail;
        double? rate = null;
        if (_tail is { } before && tail >= before.Tail && told.At > before.At)
        {
            rate = (tail - before.Tail) / (told.At - before.At).TotalSeconds;
            _rates.Add(told.At, rate.Value);
        }

        _tail = new TailPicture(told.Endpoint, told.At, tail, told.Sequencer.Streams, rate);
    }

    private void MeasureStored(DateTimeOffset now, ImmutableArray<ProcessPicture> processes)
    {
        var units = processes.SelectMany(static process => process.Roles)
            .Where(static role => role.Unit is { IsOk: true }).ToList();
        if (units.Count == 0 || now - _storedAt < s_storedInterval) return;
        _storedAt = now;
        _stored.Add(now, units.Sum(static role => (double)role.Unit!.StoredBytes));
    }

    private AnswerTimes? MeasureAnswers(DateTimeOffset now, ImmutableArray<ProcessPicture> processes)
    {
        foreach (var process in processes.Where(process => process.Problem is null && process.AnsweredAt is not null))
        {
            var point = new Point(process.AnsweredAt!.Value, process.Took.TotalMilliseconds);
            if (!_answers.Contains(point)) _answers.Enqueue(point);
        }

        while (_answers.TryPeek(out var oldest) && now - oldest.At > s_answerWindow) _answers.Dequeue();
        if (_answers.Count == 0) return null;
        var sorted = _answers.Select(static point => point.Value).Order().ToArray();
        var times = new AnswerTimes(sorted[(int)Math.Ceiling(sorted.Length * 0.99) - 1]);
        // The line shows each second's slowest answer; the figure is of a whole minute.
        var newest = _answers.Where(point => now - point.At <= s_second).Select(static point => point.Value);
        if (newest.Any()) _slowAnswers.Add(now, newest.Max());
        return times;
    }
}
