namespace LockServiceSample.Run;

/// <summary>Checks the history of a run against what fencing tokens promise.</summary>
/// <remarks>
/// <list type="number">
/// <item>Tokens grow from one acquisition to the next.</item>
/// <item>A member believes in the token that it acquired last, and writes with no other.</item>
/// <item>The vault refuses a token below the highest that it has taken, and no other. Each refusal is thus due to its
/// token: the same token was taken before, and another member is taken after.</item>
/// <item>A member that goes on writes once with the token it believes in, which is late: another has acquired the lock.
/// The vault refuses the write, and the service refuses to renew the token.</item>
/// </list>
/// </remarks>
internal sealed class LockJudge
{
    private readonly List<string> _faults = [];
    private readonly Dictionary<string, long> _believed = [];
    private readonly Dictionary<long, Return> _returns = [];
    private readonly HashSet<long> _taken = [];

    // Members whose writes were refused, until another write is taken: else a vault that refuses all would pass.
    private readonly HashSet<string> _unproven = [];
    private long _lastToken;
    private long _highest;

    private LockJudge()
    {
    }

    /// <returns>What breaks the promise; empty: the history is right.</returns>
    public static IReadOnlyList<string> Judge(IEnumerable<LockEvent> history)
    {
        var judge = new LockJudge();
        foreach (LockEvent one in history) judge.Play(one);
        foreach (var (token, late) in judge._returns)
        {
            judge.Require(late.Writes == 1, $"{late.Member} went on and wrote {late.Writes} times with token {token}");
            judge.Require(
                late.Renewals == 1, $"{late.Member} went on and renewed token {token} {late.Renewals} times");
        }

        foreach (string refused in judge._unproven)
            judge.Fault($"no write was taken after that of {refused} was refused");
        return judge._faults;
    }

    private void Play(LockEvent one)
    {
        switch (one)
        {
            case LockEvent.Acquired acquired:
                Require(acquired.Token > _lastToken, $"{one}: token {_lastToken} was given before");
                _lastToken = Math.Max(_lastToken, acquired.Token);
                _believed[one.Member] = acquired.Token;
                break;
            case LockEvent.Stopped:
                Require(_believed.TryGetValue(one.Member, out long held) && held == _lastToken,
                    $"{one}: another member holds the lock");
                Require(_taken.Contains(held), $"{one}: no write with token {held} was taken before");
                break;
            case LockEvent.Continued continued:
                PlayReturn(continued);
                break;
            case LockEvent.Wrote wrote:
                PlayWrite(wrote);
                break;
            case LockEvent.Renewed renewed:
                PlayRenewal(renewed);
                break;
        }
    }

    private void PlayReturn(LockEvent.Continued continued)
    {
        RequireBelieved(continued, continued.Believed);
        Require(continued.Believed < _lastToken, $"{continued}: no other member has acquired the lock meanwhile");
        _returns[continued.Believed] = new Return(continued.Member);
    }

    private void PlayWrite(LockEvent.Wrote wrote)
    {
        RequireBelieved(wrote, wrote.Token);
        bool isLate = wrote.Token < _highest;
        Require(wrote.IsTaken != isLate, $"{wrote}: the highest token that the vault has taken is {_highest}");
        _highest = Math.Max(_highest, wrote.IsTaken ? wrote.Token : 0);
        if (wrote.IsTaken)
        {
            _taken.Add(wrote.Token);
            _unproven.Clear();
        }
        else
        {
            _unproven.Add(wrote.Member);
        }

        if (!_returns.TryGetValue(wrote.Token, out Return? late)) return;
        Require(!wrote.IsTaken, $"{wrote}: a late write was taken");
        late.Writes++;
    }

    private void PlayRenewal(LockEvent.Renewed renewed)
    {
        RequireBelieved(renewed, renewed.Token);
        if (!_returns.TryGetValue(renewed.Token, out Return? late)) return;
        Require(!renewed.IsHeld, $"{renewed}: a late renewal was granted");
        late.Renewals++;
    }

    private void RequireBelieved(LockEvent one, long token) =>
        Require(_believed.TryGetValue(one.Member, out long believed) && token == believed,
            $"{one}: the member has acquired token {believed}");

    private void Require(bool isRight, string fault)
    {
        if (!isRight) Fault(fault);
    }

    private void Fault(string fault) => _faults.Add(fault);

    /// <summary>A member that goes on with the token it had before.</summary>
    private sealed class Return(string member)
    {
        public string Member => member;

        public int Writes { get; set; }

        public int Renewals { get; set; }
    }
}
