namespace JobScheduler.Workloads.Model;

/// <summary>The gamma distribution with a shape (alpha) and a scale (beta): mean alpha * beta.</summary>
public readonly record struct GammaDistribution(double Shape, double Scale)
{
    private const int MaxTerms = 1000;
    private const double Accuracy = 1e-12;

    private static readonly double[] Lanczos =
    [
        0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
        12.507343278686905,
        -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
    ];

    /// <summary>Draws a value by the method of Marsaglia and Tsang (2000); shapes below 1 by their boost.</summary>
    public double Sample(ModelRandom random)
    {
        if (Shape < 1)
            return (this with { Shape = Shape + 1 }).Sample(random) * Math.Pow(random.NextUnit(), 1 / Shape);
        double d = Shape - 1.0 / 3;
        double c = 1 / Math.Sqrt(9 * d);
        while (true)
        {
            double x = Normal(random);
            double v = 1 + c * x;
            if (v <= 0)
                continue;
            v = v * v * v;
            if (Math.Log(random.NextUnit()) < 0.5 * x * x + d - d * v + d * Math.Log(v))
                return d * v * Scale;
        }
    }

    /// <summary>The probability of a value up to <paramref name="x"/>: the regularised lower incomplete gamma
    /// function.</summary>
    public double Cumulative(double x)
    {
        x /= Scale;
        if (x <= 0)
            return 0;
        double factor = Math.Exp(-x + Shape * Math.Log(x) - LogGamma(Shape));
        return x < Shape + 1 ? factor * Series(x, Shape) : 1 - factor * Fraction(x, Shape);
    }

    private static double Series(double x, double a)
    {
        double term = 1 / a;
        double sum = term;
        for (int n = 1; n < MaxTerms && term > sum * Accuracy; n++)
        {
            term *= x / (a + n);
            sum += term;
        }

        return sum;
    }

    // The continued fraction of the upper tail, evaluated by Lentz's method.
    private static double Fraction(double x, double a)
    {
        const double tiny = 1e-300;
        double b = x + 1 - a;
        double c = 1 / tiny;
        double d = 1 / b;
        double result = d;
        for (int n = 1; n < MaxTerms; n++)
        {
            double an = -n * (n - a);
            b += 2;
            d = an * d + b;
            d = 1 / (Math.Abs(d) < tiny ? tiny : d);
            c = b + an / c;
            c = Math.Abs(c) < tiny ? tiny : c;
            double step = d * c;
            result *= step;
            if (Math.Abs(step - 1) < Accuracy)
                break;
        }

        return result;
    }

    private static double LogGamma(double x)
    {
        double sum = Lanczos[0];
        for (int i = 1; i < Lanczos.Length; i++)
            sum += Lanczos[i] / (x - 1 + i);
        double t = x + Lanczos.Length - 2.5;
        return 0.5 * Math.Log(2 * Math.PI) + (x - 0.5) * Math.Log(t) - t + Math.Log(sum);
    }

    // Marsaglia's polar method.
    private static double Normal(ModelRandom random)
    {
        while (true)
        {
            double u = 2 * random.NextUnit() - 1;
            double v = 2 * random.NextUnit() - 1;
            double s = u * u + v * v;
            if (s is > 0 and < 1)
                return u * Math.Sqrt(-2 * Math.Log(s) / s);
        }
    }
}
